// What makes a figure fit the room that a screen has for it, in pixels: on a phone what has many panels keeps a width at which it can
// be read, and is scrolled; and a title of Plotly's, which is one line however long, is broken, with room for what it takes.
"use strict";
globalThis.fitted = (given, room) => {
  const layout = { ...given };
  const isOne = /^<b>(Progress|Timeline|Best as measured)/.test(layout.title?.text ?? "") || layout.height <= 240;
  if (room >= 700 && 0.7 * layout.width <= room) delete layout.width;
  else if (room < 700) layout.width = Math.max(room, Math.min(layout.width ?? 0, 900), isOne ? 0 : 620);
  const parts = /^<b>(.*?)<\/b>(?:<br>(<span[^>]*>)(.*)<\/span>)?$/.exec(layout.title?.text ?? "");
  if (!parts) return layout;
  const broken = (text, size) => {
    const most = Math.max(20, Math.floor((room - 32) / size)), lines = [""];
    for (const word of text.split(" ")) {
      const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
      if (longer.replace(/&[#\w]+;/g, "x").length <= most || !lines.at(-1)) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  };
  const title = broken(parts[1], 10.5), subtitle = parts[2] ? broken(parts[3], 7) : [];
  const more = title.length - 1 + Math.max(0, subtitle.length - 1);
  if (!more) return layout;
  const text = title.map((line) => `<b>${line}</b>`).join("<br>") + subtitle.map((line) => `<br>${parts[2]}${line}</span>`).join("");
  const margin = { ...layout.margin, t: (layout.margin?.t ?? 92) + 20 * more };
  return { ...layout, title: { ...layout.title, text }, margin, ...(layout.height ? { height: layout.height + 20 * more } : {}) };
};

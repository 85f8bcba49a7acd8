BEGIN TRANSACTION;
CREATE TABLE pesky_evaluations (
	study INTEGER NOT NULL, 
	id INTEGER NOT NULL, 
	task TEXT NOT NULL, 
	params TEXT NOT NULL, 
	gain DOUBLE, 
	price DOUBLE NOT NULL, 
	state TEXT NOT NULL, 
	outcomes TEXT NOT NULL, 
	error TEXT, 
	attempts INTEGER NOT NULL, 
	worker TEXT, 
	asked DOUBLE NOT NULL, 
	began DOUBLE, 
	ended DOUBLE, 
	seconds DOUBLE, 
	expires DOUBLE, 
	revision BIGINT NOT NULL, 
	PRIMARY KEY (study, id), 
	FOREIGN KEY(study) REFERENCES pesky_studies (id)
);
INSERT INTO "pesky_evaluations" VALUES(1,0,'run','{"x": 0.8444218515250481, "kind": "high"}',NULL,1.0,'done','{"f": 0.8444218515250481, "c": 0.15557814847495188}',NULL,1,'box:123:ab12',1.79480749369801282884e+09,1.79480749369801282884e+09,1.79480749371301984791e+09,2.5,NULL,2);
INSERT INTO "pesky_evaluations" VALUES(1,1,'run','{"x": 0.04048437818077755, "kind": "high"}',NULL,1.0,'done','{"f": 0.04048437818077755, "c": 0.9595156218192225}',NULL,1,'box:123:ab12',1.79480749372299766544e+09,1.79480749372299766544e+09,1.7948074937289924622e+09,2.5,NULL,4);
INSERT INTO "pesky_evaluations" VALUES(1,2,'run','{"x": 0.4049341374504143, "kind": "high"}',NULL,1.0,'failed','{"c": -0.5}','ValueError: diverged',1,'box:123:ab12',1.79480749373301553726e+09,1.79480749373301553726e+09,1.79480749373901033406e+09,1.0,NULL,6);
INSERT INTO "pesky_evaluations" VALUES(1,3,'run','{"x": 0.9677999949201714, "kind": "high"}',3.00000000000000044408e-01,1.0,'lost','{}','its worker stopped renewing the lease',2,'box:9:ff',1.79480749374500513073e+09,1.79480749377699041365e+09,1.79480749377699041365e+09,NULL,NULL,14);
INSERT INTO "pesky_evaluations" VALUES(1,4,'run','{"x": 0.5833820394550312, "kind": "low"}',0.4,1.0,'running','{"c": 0.25}',NULL,1,'box:123:ab12',1.79480749375200557705e+09,1.79480749375200557705e+09,NULL,NULL,1.79480809375200557704e+09,10);
INSERT INTO "pesky_evaluations" VALUES(1,5,'run','{"x": 0.5046868558173903, "kind": "high"}',0.5,1.0,'running','{}',NULL,1,'box:123:ab12',1.79480749376399517061e+09,1.79480749376399517061e+09,NULL,NULL,1.79480809376399517065e+09,11);
INSERT INTO "pesky_evaluations" VALUES(1,6,'run','{"x": 0.5, "kind": "low"}',NULL,0.0,'done','{"f": 0.3}',NULL,0,NULL,1794807493.76999,NULL,1794807493.76999,NULL,NULL,12);
INSERT INTO "pesky_evaluations" VALUES(1,7,'run','{"x": 0.125, "kind": "low"}',NULL,1.0,'pending','{}',NULL,1,'me@box',1.79480749378499698635e+09,1.79480749378499698635e+09,NULL,NULL,NULL,15);
CREATE TABLE pesky_schema (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "pesky_schema" VALUES(1);
CREATE TABLE pesky_studies (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	created DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "pesky_studies" VALUES(1,'old','{"parameters": {"x": {"type": "real", "low": 0.0, "high": 1.0, "log": false}, "kind": {"type": "choice", "options": ["low", "high"]}}, "minimize": "f", "constraints": [{"outcome": "c", "sense": ">=", "threshold": 0.0, "confidence": 0.95}, {"outcome": "price", "sense": "<=", "threshold": 3.0, "confidence": 0.95}], "tasks": {"run": {"outcomes": ["f", "c"], "cost": "measured", "failures": "learn", "timeout": null}}, "noise": {"f": 0.1, "c": null}, "resources": {}, "known": {"price": "examples.toy.toy:measure"}}',7,15,1.79480749365798091885e+09);
CREATE INDEX pesky_by_expires ON pesky_evaluations (study, expires);
CREATE INDEX pesky_by_revision ON pesky_evaluations (study, revision);
COMMIT;

"""The figures of the paper, with hundreds of realisations side by side on one device."""

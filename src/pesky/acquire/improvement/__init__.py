"""Rules of expected improvement and of the region that may improve."""

BEGIN TRANSACTION;
CREATE TABLE pesky_clocks (
	boot TEXT NOT NULL, 
	"offset" DOUBLE NOT NULL, 
	PRIMARY KEY (boot)
);
INSERT INTO "pesky_clocks" VALUES('00000000-0000-4000-8000-000000000000 time:[4026531834]',1.79480700733994293213e+09);
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
	cause TEXT, 
	crashes INTEGER DEFAULT '0' NOT NULL, 
	losses INTEGER DEFAULT '0' NOT NULL, 
	history TEXT DEFAULT '[]' NOT NULL, 
	lease DOUBLE, 
	PRIMARY KEY (study, id), 
	FOREIGN KEY(study) REFERENCES pesky_studies (id)
);
INSERT INTO "pesky_evaluations" VALUES(1,0,'produce','{"rate": 0.000223976504006115, "stages": 5, "solvent": "none"}',NULL,10.0,'done','{"yield": -0.05545797945436892, "impurity": 0.664979753843236}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482140827057290075e+09,1.79482140827057290075e+09,1.79482140978972935676e+09,5.42558000233839266002e-04,NULL,2,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,1,'inspect','{"rate": 0.000223976504006115, "stages": 5, "solvent": "none"}',NULL,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482140989265418051e+09,1.79482140989265418051e+09,1.79482140994553494451e+09,3.63996001397026702761e-04,NULL,4,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,2,'produce','{"rate": 0.07189045430946428, "stages": 4, "solvent": "ethanol"}',NULL,10.0,'done','{"yield": 0.3165286017233357, "impurity": 0.3143328771869478}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482141002185702324e+09,1.79482141002185702324e+09,1.79482141005456519123e+09,3.56518999979016371071e-04,NULL,6,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,3,'inspect','{"rate": 0.07189045430946428, "stages": 4, "solvent": "ethanol"}',NULL,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482141013582372664e+09,1.79482141013582372664e+09,1.79482141016835927962e+09,2.99479999739560298621e-04,NULL,8,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,4,'inspect','{"rate": 0.0003763107536521354, "stages": 8, "solvent": "ethanol"}',3.84794260077260183439e-02,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482141258026480674e+09,1.79482141258026480674e+09,1.7948214126009044647e+09,3.4397899980831425637e-04,NULL,10,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,5,'inspect','{"rate": 0.053223109425456674, "stages": 5, "solvent": "water"}',3.49439649329461171634e-02,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482141312067341801e+09,1.79482141312067341801e+09,1.79482141314651536942e+09,0.000324867000017548,NULL,12,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,6,'produce','{"rate": 0.8042063106565639, "stages": 3, "solvent": "ethanol"}',2.1533723970562196337e-01,10.0,'done','{"yield": -0.5326063053316527, "impurity": 0.10946325232841281}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482141546064233785e+09,1.79482141546064233785e+09,1.79482141550052428247e+09,4.31372000093688257038e-04,NULL,14,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,7,'inspect','{"rate": 0.2680934438431644, "stages": 3, "solvent": "none"}',5.5817429329068496413e-02,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482141756397581104e+09,1.79482141756397581104e+09,1.79482141760851311683e+09,3.30630000462406314909e-04,NULL,16,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,8,'inspect','{"rate": 0.03168086502514691, "stages": 3, "solvent": "water"}',4.11953087803237499864e-02,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1794821419.64528,1794821419.64528,1.79482141968845152857e+09,3.21809000524808652698e-04,NULL,18,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,9,'inspect','{"rate": 0.0004972700367605688, "stages": 6, "solvent": "water"}',1.69988843734152419995e-02,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482142231270623208e+09,1.79482142231270623208e+09,1.79482142237916779525e+09,3.26762999975471757352e-04,NULL,20,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,10,'produce','{"rate": 0.00879709918006408, "stages": 1, "solvent": "ethanol"}',2.26280377115117142805e-01,10.0,'done','{"yield": 0.12422547685965131, "impurity": 0.10556605116882226}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482142545792746537e+09,1.79482142545792746537e+09,1.79482142550858521463e+09,4.21044000177062116563e-04,NULL,22,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,11,'produce','{"rate": 0.027066906805632486, "stages": 5, "solvent": "ethanol"}',2.07002347345442400117e-01,10.0,'done','{"yield": 0.5782492083352714, "impurity": 0.4567561372378791}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482142755575966837e+09,1.79482142755575966837e+09,1.79482142760373497005e+09,3.82782998713082633912e-04,NULL,24,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,12,'produce','{"rate": 0.028283370675515434, "stages": 3, "solvent": "water"}',3.64498748421804963371e-01,10.0,'done','{"yield": 0.324029901684383, "impurity": 0.25484688346719936}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482143023702740668e+09,1.79482143023702740668e+09,1.79482143027655100821e+09,3.96739998905104584991e-04,NULL,26,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,13,'produce','{"rate": 0.0023966062385082395, "stages": 2, "solvent": "water"}',2.98187361452181942667e-01,10.0,'done','{"yield": 0.15377493183218, "impurity": 0.26204033145231254}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482143085719394676e+09,1.79482143085719394676e+09,1.79482143088843774797e+09,4.2982000013580545783e-04,NULL,28,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,14,'inspect','{"rate": 0.008733302063550288, "stages": 1, "solvent": "ethanol"}',3.12977775998662180456e-02,1.0,'done','{"stable": 1.0}',NULL,1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482143296226143843e+09,1.79482143296226143843e+09,1.79482143299251937869e+09,3.39432999680866487324e-04,NULL,30,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,15,'produce','{"rate": 0.04745878663913668, "stages": 6, "solvent": "none"}',2.83421751826420598163e-01,10.0,'failed','{}','RuntimeError: the reactor ran dry
  function.py:53 in __call__: return self.load()(dict(params))
  reactor.py:12 in produce: raise RuntimeError("the reactor ran dry")',1,'box:32233:8eb6:8543eac7a6a6:1438854',1.79482143396290755267e+09,1.79482143396290755267e+09,1.79482143399646306035e+09,8.68433000505319796502e-04,NULL,32,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,16,'inspect','{"rate": 0.000668134748816686, "stages": 7, "solvent": "water"}',1.05175242045687407366e-02,1.0,'running','{}',NULL,2,'box:123:ab12',1.79482147951211833949e+09,1.79482147960855102546e+09,NULL,NULL,4.79482147960855102555e+09,35,NULL,0,0,'[{"worker": "box:123:ab12", "began": 1794821479.5121183, "ended": 1794821479.5726876, "cause": "released", "error": "its worker was interrupted"}]',3000000000.0);
INSERT INTO "pesky_evaluations" VALUES(1,17,'produce','{"rate": 0.04578598611830424, "stages": 5, "solvent": "water"}',3.12759904356307738559e-01,10.0,'running','{"impurity": 0.25}',NULL,2,'box:124:cd34',1.79482148111467361452e+09,1.7948214811444320679e+09,NULL,NULL,4.79482148114443206769e+09,39,NULL,1,0,'[{"worker": "box:123:ab12", "began": 1794821481.1146736, "ended": 1794821481.132535, "cause": "crashed", "error": "the process was killed by SIGSEGV"}]',3000000000.0);
INSERT INTO "pesky_evaluations" VALUES(1,18,'inspect','{"rate": 0.05439614692801153, "stages": 5, "solvent": "water"}',1.57217144546231354929e-02,1.0,'abandoned','{}',NULL,1,'me@box',1.7948214829922587871e+09,1.7948214829922587871e+09,1.79482148302028465271e+09,NULL,NULL,41,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,19,'produce','{"rate": 0.01982101411882464, "stages": 5, "solvent": "water"}',3.20153782304641809641e-01,10.0,'failed','{"impurity": 0.5}','ValueError: no sample left',1,'me@box',1794821483.8242,1794821483.8242,1.79482148385649037357e+09,2.5,NULL,44,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,20,'inspect','{"rate": 0.13405614071464833, "stages": 5, "solvent": "ethanol"}',2.48626764344345267676e-02,1.0,'pending','{}',NULL,1,'me@box',1.79482148540645122533e+09,1.79482148540645122533e+09,NULL,NULL,NULL,45,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,21,'produce','{"rate": 0.02, "stages": 4, "solvent": "water"}',NULL,0.0,'done','{"yield": 0.41, "impurity": 0.39, "stable": 1.0}',NULL,0,NULL,1.79482148542869424817e+09,NULL,1.79482148542869424817e+09,NULL,NULL,46,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,22,'produce','{"rate": 0.11964363447225668, "stages": 7, "solvent": "ethanol"}',2.11868172245855745927e-01,10.0,'pending','{}',NULL,1,'me@box',1.79482148585698056226e+09,1.79482148585698056226e+09,NULL,NULL,NULL,47,NULL,0,0,'[]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,23,'inspect','{"rate": 0.000984360529622483, "stages": 8, "solvent": "ethanol"}',2.83344648683650293663e-02,1.0,'lost','{}','its worker was asked to end',1,'box:9:ff',1.79482148743588209149e+09,1.79482148743588209149e+09,1.79482148745764565466e+09,NULL,NULL,49,'released',0,0,'[{"worker": "box:9:ff", "began": 1794821487.435882, "ended": 1794821487.4576457, "cause": "released", "error": "its worker was asked to end"}]',NULL);
INSERT INTO "pesky_evaluations" VALUES(1,24,'produce','{"rate": 0.003941495076684744, "stages": 5, "solvent": "ethanol"}',2.40995642951242788898e-01,10.0,'running','{}',NULL,1,'box:9:ff',1.79482148824160647393e+09,1.79482148824160647393e+09,NULL,NULL,1.79482148829160642619e+09,50,NULL,0,0,'[]',0.05);
CREATE TABLE pesky_schema (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "pesky_schema" VALUES(2);
CREATE TABLE pesky_studies (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	created DOUBLE NOT NULL, 
	identity TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "pesky_studies" VALUES(1,'reactor','{"parameters": {"rate": {"type": "real", "low": 0.0001, "high": 1.0, "log": true}, "stages": {"type": "integer", "low": 1, "high": 8, "log": false}, "solvent": {"type": "choice", "options": ["water", "ethanol", "none"]}}, "maximize": "yield", "constraints": [{"outcome": "impurity", "sense": "<=", "threshold": 0.4, "confidence": 0.95}, {"outcome": "stable", "sense": "is", "threshold": true, "confidence": 0.95}, {"outcome": "weight", "sense": "<=", "threshold": 6.0, "confidence": 0.99}], "tasks": {"produce": {"outcomes": ["yield", "impurity"], "cost": 10.0, "failures": "learn", "timeout": null}, "inspect": {"outcomes": ["stable"], "cost": 1.0, "failures": "record", "timeout": 30.0}}, "noise": {"yield": null, "impurity": 0.01, "stable": null}, "resources": {}, "known": {"weight": "reactor:weight"}}',11,50,1.79482140808318662641e+09,'c37f7de9bc1246eb8ac4969c6fb646a7');
CREATE UNIQUE INDEX pesky_by_identity ON pesky_studies (identity);
CREATE INDEX pesky_by_expires ON pesky_evaluations (study, expires);
CREATE INDEX pesky_by_revision ON pesky_evaluations (study, revision);
COMMIT;

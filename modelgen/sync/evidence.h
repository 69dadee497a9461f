/* How much evidence an explanation of waits needs, where several modules ask for the same. */
#ifndef PERSIK_MODELGEN_SYNC_EVIDENCE_H
#define PERSIK_MODELGEN_SYNC_EVIDENCE_H

#define VIOLATION_SHARE  0.05 /* of the decisions may contradict an explanation that is accepted */
#define RECALL           0.8  /* of the waits, and of the passes, must be explained */
#define CONVINCING       8    /* attempts that succeed, and as many that fail */
#define DOUBTS           4    /* contradictions ... */
#define DOUBTFUL_SHARE   0.01 /* ... and their share that make an explanation doubtful */
#define CONVINCING_TURNS 8    /* of a verdict, to be believed whatever else speaks against it */

#endif

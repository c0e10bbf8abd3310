/** Runs that the history of an event keeps. An outage may put an event off thousands of times. */
export const MAX_HISTORY = 50;

/** Runs that ended with the process, from which on their event is a suspect: it may be what ends the process. */
export const SUSPECT_CRASHES = 2;

/** In ms. A lane whose event waits for another suspect is looked at again after this. */
export const SUSPECT_WAIT_MS = 200;

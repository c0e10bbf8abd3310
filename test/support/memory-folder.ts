import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

/** A folder in memory if there is one, because a sync costs nothing there. */
export const MEMORY_FOLDER: string = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

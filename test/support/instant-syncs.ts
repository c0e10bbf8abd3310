import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { MEMORY_FOLDER } from "./memory-folder.ts";

// A manual clock does not wait for the disk. The power loss tests check the real syncs.
process.env["TMPDIR"] = MEMORY_FOLDER;
const fdatasync = (_fd: number, done: (error: null) => void) => queueMicrotask(() => done(null));
Object.assign(fs, { fdatasync });
syncBuiltinESMExports();

import { WalSync } from "../faces/inbox-sqlite.ts";

// A manual clock does not wait for the disk. The power loss tests check the real syncs.
WalSync.prototype.sync = () => Promise.resolve();

import type { Clock } from "../core/clock.ts";
import { invalid, notFound, PlatformError } from "./error.ts";
import type { Timeline } from "./timeline/timeline.ts";
import type { State } from "./world.ts";

/** A snapshot without what it holds. */
export interface SnapshotView {
  /** `snap_` and a number that is never given twice. */
  readonly id: string;
  readonly name: string;
  /** When it was taken or uploaded, by the platform's clock: ISO 8601, UTC. */
  readonly at: string;
  /** Size of its file. */
  readonly bytes: number;
}

interface Snapshot extends SnapshotView {
  readonly file: Uint8Array;
}

/** How many snapshots are kept at a time. */
const MAX_SNAPSHOTS = 20;

/** Bytes of all snapshots together. */
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;

/** The longest name, in characters. */
const MAX_NAME_LENGTH = 100;

export interface SnapshotsOptions {
  readonly state: State;
  readonly clock: Clock;
  readonly timeline: Timeline;
}

/** Copies of the whole state to come back to. They live in memory, and end with the process. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #snapshots = new Map<string, Snapshot>();
  #count = 0;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /** Oldest first. */
  list(): readonly SnapshotView[] {
    return [...this.#snapshots.values()].map(view);
  }

  /**
   * Takes a snapshot of everything that is in the state: content, events, tokens, secrets, settings.
   *
   * @param name 1 to 100 characters. Default: its id
   * @throws {PlatformError} 400 VALIDATION; 409 SNAPSHOTS_FULL
   */
  take(name?: string): SnapshotView {
    checkName(name);
    return this.#keep(this.#options.state.copy(), name, "taken");
  }

  /** The file of a snapshot: a state file for another platform (`stateFile`), or for `upload`. */
  file(id: string): Uint8Array {
    return Uint8Array.from(this.#find(id).file);
  }

  /**
   * Takes a snapshot from a file: that of another snapshot, or the state file of a platform that was stopped.
   * The standard token and the webhook's secret of this platform take the place of those in it.
   *
   * @param name 1 to 100 characters. Default: its id
   * @throws {PlatformError} 400 VALIDATION: not a snapshot, damaged, of a newer version; 409 SNAPSHOTS_FULL
   */
  upload(file: Uint8Array, name?: string): SnapshotView {
    checkName(name);
    return this.#keep(this.#options.state.adopt(file), name, "uploaded");
  }

  /**
   * Puts everything back to how it was. Faults end, API requests and deliveries that are under way have no
   * effect, and events go on with numbers that were never used.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  restore(id: string): SnapshotView {
    const snapshot = this.#find(id);
    this.#options.state.restore(snapshot.file, label(snapshot));
    return view(snapshot);
  }

  /**
   * Drops a snapshot; the state stays as it is.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  remove(id: string): void {
    this.#snapshots.delete(this.#find(id).id);
  }

  #keep(file: Uint8Array, name: string | undefined, how: "taken" | "uploaded"): SnapshotView {
    const { clock, timeline } = this.#options;
    this.#checkRoom(file.byteLength);
    this.#count += 1;
    const id = `snap_${this.#count}`;
    const at = new Date(clock.now()).toISOString();
    const snapshot = { id, name: name ?? id, at, bytes: file.byteLength, file };
    this.#snapshots.set(id, snapshot);
    timeline.add({ kind: "state", change: "snapshot", detail: `${label(snapshot)} ${how}` });
    return view(snapshot);
  }

  #checkRoom(bytes: number): void {
    const held = [...this.#snapshots.values()].reduce((sum, one) => sum + one.bytes, 0);
    if (this.#snapshots.size < MAX_SNAPSHOTS && held + bytes <= MAX_TOTAL_BYTES) return;
    const most = `${MAX_SNAPSHOTS} snapshots, or ${MAX_TOTAL_BYTES} bytes, are kept at a time`;
    throw new PlatformError(409, "SNAPSHOTS_FULL", `${most}; delete one you do not need.`);
  }

  #find(id: string): Snapshot {
    const snapshot = this.#snapshots.get(id);
    if (snapshot === undefined) throw notFound("snapshot");
    return snapshot;
  }
}

function view({ id, name, at, bytes }: Snapshot): SnapshotView {
  return { id, name, at, bytes };
}

function label({ id, name }: SnapshotView): string {
  return name === id ? id : `${id} (${name})`;
}

function checkName(name: string | undefined): void {
  if (name === undefined || (name.trim() !== "" && name.length <= MAX_NAME_LENGTH)) return;
  throw invalid(`name must have 1 to ${MAX_NAME_LENGTH} characters`);
}

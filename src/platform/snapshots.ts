import type { Clock } from "../core/clock.ts";
import { invalid, notFound, PlatformError } from "./error.ts";
import type { Timeline } from "./timeline/timeline.ts";
import type { State } from "./world.ts";

/** A snapshot without its content. */
export interface SnapshotView {
  /** `snap_` and a number that is never reused. */
  readonly id: string;
  readonly name: string;
  /** Time at which the snapshot was taken or uploaded, on the platform's clock: ISO 8601, UTC. */
  readonly at: string;
  /** File size in bytes. */
  readonly bytes: number;
}

interface Snapshot extends SnapshotView {
  readonly file: Uint8Array;
}

const MAX_SNAPSHOTS = 20;

const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;

const MAX_NAME_LENGTH = 100;

export interface SnapshotsOptions {
  readonly state: State;
  readonly clock: Clock;
  readonly timeline: Timeline;
}

/** Copies of the whole state that can be restored. They are kept in memory and lost when the process ends. */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #snapshots = new Map<string, Snapshot>();
  #count = 0;

  /** @internal */
  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /** Lists the snapshots, oldest first. */
  list(): readonly SnapshotView[] {
    return [...this.#snapshots.values()].map(view);
  }

  /**
   * Takes a snapshot of the whole state: content, events, tokens, secrets and settings.
   *
   * @param name 1 to 100 characters. Default: the snapshot's id
   * @throws {PlatformError} 400 VALIDATION; 409 SNAPSHOTS_FULL
   */
  take(name?: string): SnapshotView {
    checkName(name);
    return this.#keep(this.#options.state.copy(), name, "taken");
  }

  /** Returns a snapshot as a state file, for another platform's `stateFile` option or for `upload`. */
  file(id: string): Uint8Array {
    return Uint8Array.from(this.#find(id).file);
  }

  /**
   * Adds a snapshot from a file: a downloaded snapshot, or a stopped platform's state file. The standard token and the
   * webhook secret in the file are replaced by this platform's.
   *
   * @param name 1 to 100 characters. Default: the snapshot's id
   * @throws {PlatformError} 400 VALIDATION if the file is not a snapshot, is damaged or comes from a newer version; 409
   * SNAPSHOTS_FULL
   */
  upload(file: Uint8Array, name?: string): SnapshotView {
    checkName(name);
    return this.#keep(this.#options.state.convertUpload(file), name, "uploaded");
  }

  /**
   * Restores a snapshot. Ends all faults, and discards the effects of API requests and deliveries in progress. New
   * events get numbers that were never used before.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  restore(id: string): SnapshotView {
    const snapshot = this.#find(id);
    this.#options.state.restore(snapshot.file, label(snapshot));
    return view(snapshot);
  }

  /**
   * Removes a snapshot. The current state does not change.
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
    const limits = `at most ${MAX_SNAPSHOTS} snapshots, with ${MAX_TOTAL_BYTES} bytes in total`;
    const message = `The platform keeps ${limits}. Delete a snapshot first.`;
    throw new PlatformError(409, "SNAPSHOTS_FULL", message);
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

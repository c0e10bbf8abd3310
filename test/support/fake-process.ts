import { EventEmitter } from "node:events";
import type { ProcessLike } from "../faces/core.ts";

/** Receives signals through `emit`, and records the exit codes. */
export class FakeProcess extends EventEmitter implements ProcessLike {
  readonly codes: number[] = [];
  readonly #exited = Promise.withResolvers<number>();

  get exited(): Promise<number> {
    return this.#exited.promise;
  }

  exit(code: number): void {
    this.codes.push(code);
    this.#exited.resolve(code);
  }
}

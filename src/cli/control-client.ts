import type { ActInput, ActResult, TimelineEntry } from "../platform/index.ts";
import { CommandError } from "./usage.ts";

/** Calls `/control` of a local platform in another process. */
export class ControlClient {
  readonly #platform: string;

  /** @param platform its origin */
  constructor(platform: string) {
    this.#platform = platform.replace(/\/+$/, "");
  }

  /** @throws {CommandError} */
  async act(input: ActInput): Promise<ActResult> {
    const body = await this.#request("/act", { method: "POST", body: JSON.stringify(input) });
    return body as ActResult;
  }

  /** The number of the newest timeline entry. @throws {CommandError} */
  async timelineEnd(): Promise<number> {
    const body = (await this.#request("/state", {})) as { timelineSeq: number };
    return body.timelineSeq;
  }

  /** What happened after an entry; waits up to `waitMs` milliseconds for something. @throws {CommandError} */
  async timeline(
    after: number,
    waitMs: number,
  ): Promise<{ entries: readonly TimelineEntry[]; last: number }> {
    const body = await this.#request(`/timeline?after=${after}&waitMs=${waitMs}`, {});
    return body as { entries: readonly TimelineEntry[]; last: number };
  }

  async #request(path: string, init: RequestInit): Promise<unknown> {
    const url = `${this.#platform}/control${path}`;
    let response: Response;
    try {
      response = await fetch(url, { ...init, headers: { "content-type": "application/json" } });
    } catch {
      throw new CommandError(
        `Nothing listens on ${this.#platform}. Is the local platform running? npm run dev, or service-bot platform`,
      );
    }
    const body = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body;
    const message = (body as { error?: { message?: string } } | undefined)?.error?.message;
    if (response.status === 404 && message === undefined) {
      throw new CommandError(`${this.#platform} is not a local platform: it has no /control.`);
    }
    throw new CommandError(message ?? `${url} answered ${response.status}.`);
  }
}

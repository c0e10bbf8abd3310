import { Child } from "../harness/child.ts";
import type { LocalPlatform } from "../processes/platform.ts";
import { makeFolder } from "./folder.ts";

/** The local platform in a process of its own, with a state file that goes with it. */
export interface PlatformProcess {
  readonly url: string;
  /** Bearer token with all scopes. */
  readonly apiKey: string;
  readonly process: Child<LocalPlatform>;
  /** Calls `/control/v1`. @throws {Error} the answer is not 200 to 299 */
  control<T>(method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<T>;
  close(): Promise<void>;
}

/** The most that one act may do (docs/platform.md, "Act"). */
const ACTS_AT_ONCE = 1000;

export async function startPlatformProcess(): Promise<PlatformProcess> {
  const folder = makeFolder();
  const process = new Child<LocalPlatform>("processes/platform.ts", ["--expose-gc"]);
  const stateFile = folder.file("platform.db");
  const { url, apiKey, controlToken } = await process.call("start", { stateFile });
  return {
    url,
    apiKey,
    process,
    async control<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await fetch(`${url}/control/v1${path}`, {
        method,
        headers: { "content-type": "application/json", "x-control-token": controlToken },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text) as T;
    },
    async close() {
      await process.call("stop");
      await process.stop();
      folder.remove();
    },
  };
}

/** Lets something happen `count` times. */
export async function act(platform: PlatformProcess, what: object, count: number): Promise<void> {
  for (let done = 0; done < count; done += ACTS_AT_ONCE) {
    const times = Math.min(ACTS_AT_ONCE, count - done);
    await platform.control("POST", "/act", { from: "ada", ...what, count: times });
  }
}

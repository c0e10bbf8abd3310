import { describe, expect, test } from "vitest";
import { rawRequest } from "./raw-request.ts";

/** A server, a request that it accepts, and the status of its response. */
export interface Served {
  readonly url: string;
  readonly path: string;
  readonly method?: string;
  readonly head?: readonly string[];
  readonly body?: string;
  readonly status: number;
}

/** Checks that a server finds a path in each form of a request target, and only by its exact spelling. */
export function describeTargets(name: string, serve: () => Promise<Served>): void {
  describe(name, () => {
    test("is found by its path and by its URL, with or without a query", async () => {
      const served = await serve();
      const { path, status } = served;
      const { host, port } = new URL(served.url);
      for (const target of [path, `${path}?`, `${path}?x=1`]) {
        for (const origin of [
          "",
          `http://${host}`,
          `HTTP://${host}`,
          `https://localhost:${port}`,
        ]) {
          expect([origin + target, await ask(served, origin + target, host)]).toEqual([
            origin + target,
            status,
          ]);
        }
      }
    });

    test("is found only by one spelling of its path", async () => {
      const served = await serve();
      const { path } = served;
      const { host } = new URL(served.url);
      const encoded = path.replace("m", "%6D").replace("w", "%77").replace("r", "%72");
      for (const target of [`/${path}`, `http://${host}/${path}`, encoded, `/x${path}`]) {
        expect([target, await ask(served, target, host)]).toEqual([target, 404]);
      }
    });

    test("is not found at the root", async () => {
      const served = { ...(await serve()), method: "OPTIONS" };
      const { host } = new URL(served.url);
      for (const target of ["*", `http://${host}`, `http://${host}?x`, "/"]) {
        expect([target, await ask(served, target, host)]).toEqual([target, 404]);
      }
    });
  });
}

function ask(
  { method = "GET", head = [], body = "", ...server }: Served,
  target: string,
  host: string,
) {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...head];
  return rawRequest(server, lines, body).then(({ status }) => status);
}

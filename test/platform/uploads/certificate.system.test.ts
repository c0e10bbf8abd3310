import { readFileSync } from "node:fs";
import { createServer, request } from "node:https";
import { describe, expect, test } from "vitest";
import { type Certificate, makeCertificates } from "../../e2e/proxy/certificates.ts";
import { systemClock } from "../../faces/core.ts";
import { downloadWith, type Open } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { isInstalled } from "../../support/server-path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { image } from "../support/images.ts";

const png = await image();
const here = {
  clock: systemClock,
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
  isAllowed: (address: string) => address === "127.0.0.1",
};

/** Downloads over https, as the platform does, from a local port under a public name. */
function download(port: number, authority?: Certificate): Promise<Uint8Array> {
  const trusting: Open = (url, options, onResponse) => {
    const ca = authority && readFileSync(authority.cert);
    return request(url, { ...options, ca }, onResponse);
  };
  const get = downloadWith(authority === undefined ? here : { ...here, open: trusting });
  return get(`https://bot.example.org:${port}/a.png`, new AbortController().signal);
}

async function serve({ cert, key }: Certificate): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const identity = { cert: readFileSync(cert), key: readFileSync(key) };
  const server = createServer(identity, (incoming, response) => {
    asked.push(incoming.url ?? "");
    response.end(png);
  });
  return { ...(await listenUntilEnd(server)), asked };
}

const refused = { status: 400, code: "BLOCKED_HOST" };

describe.runIf(isInstalled(["openssl", "version"]))("a host's certificate", () => {
  test("is accepted if it is trusted and has the host's name", async () => {
    const made = makeCertificates(temporaryFolder());
    const { port, asked } = await serve(made.elsewhere);
    expect(await download(port, made.authority)).toEqual(png);
    expect(asked).toEqual(["/a.png"]);
  });

  test("is rejected before any request if it is not trusted", async () => {
    const made = makeCertificates(temporaryFolder());
    const { port, asked } = await serve(made.elsewhere);
    await expect(download(port)).rejects.toMatchObject(refused);
    expect(asked).toEqual([]);
  });

  test("is rejected before any request if it has another name", async () => {
    const made = makeCertificates(temporaryFolder());
    const { port, asked } = await serve(made.localhost);
    await expect(download(port, made.authority)).rejects.toMatchObject(refused);
    expect(asked).toEqual([]);
  });
});

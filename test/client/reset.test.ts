import { once } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../e2e/proxy/certificates.ts";
import { Client } from "../faces/client.ts";
import { isInstalled } from "../support/server-path.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { apiKey, rejection } from "./api.ts";

/** Length of the request, in bytes. Larger than a client's unread window, and smaller than the system's send buffer. */
const LENGTH = 250_000;

/** Bytes that the relay passes on before it stalls. More than a handshake, and less than the request. */
const BEGINNING = 16_384;

class StallingRelay {
  readonly url: string;
  readonly #near = Promise.withResolvers<Socket>();
  readonly #end = Promise.withResolvers<string>();
  #bytes = 0;

  private constructor(server: Server, scheme: string, target: number) {
    this.url = `${scheme}://127.0.0.1:${portOf(server)}`;
    server.on("connection", (near) => {
      const far = connect(target, "127.0.0.1").on("error", () => undefined);
      far.on("data", (bytes) => near.write(bytes));
      near.on("data", (bytes) => this.#read(near, far, bytes));
      near.on("end", () => this.#end.resolve("end"));
      near.on("error", ({ code = "" }: NodeJS.ErrnoException) => this.#end.resolve(code));
      near.on("close", () => far.destroy());
    });
  }

  static async to(target: Server, scheme: string): Promise<StallingRelay> {
    const relay = await listen(createServer());
    return new StallingRelay(relay, scheme, portOf(await listen(target)));
  }

  async waitStalled(): Promise<void> {
    await this.#near.promise;
  }

  /** Resumes reading. Returns how the connection ended, and whether the whole request arrived. */
  async goOn(): Promise<{ end: string; hasArrived: boolean }> {
    (await this.#near.promise).resume();
    return { end: await this.#end.promise, hasArrived: this.#bytes >= LENGTH };
  }

  #read(near: Socket, far: Socket, bytes: Buffer): void {
    const isStalled = this.#bytes > BEGINNING;
    this.#bytes += bytes.length;
    far.write(bytes);
    if (isStalled || this.#bytes <= BEGINNING) return;
    near.pause();
    this.#near.resolve(near);
  }
}

async function listen(server: Server): Promise<Server> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function tcpServer(): Server {
  return createServer((socket) => socket.resume().on("error", () => undefined));
}

/** Creates a server whose certificate this process trusts until the test ends. */
function tlsServer(): Server {
  const { authority, localhost } = makeCertificates(temporaryFolder());
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, readFileSync(authority.cert, "utf8")]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  const [cert, key] = [readFileSync(localhost.cert), readFileSync(localhost.key)];
  // With TLS 1.3, tickets arrive after the handshake. Closing a connection with unread tickets would reset it anyway.
  return createTlsServer({ cert, key, maxVersion: "TLSv1.2" }, (socket) =>
    socket.resume().on("error", () => undefined),
  ).on("tlsClientError", () => undefined);
}

const text = "x".repeat(LENGTH);
const hasOpenssl = isInstalled(["openssl", "version"]);

describe.each([
  ["http", tcpServer, true],
  ["https", tlsServer, hasOpenssl],
] as const)("over %s, a write that is given up while the platform does not read", (...given) => {
  const [scheme, makeServer, isPossible] = given;

  test.runIf(isPossible)("an abandoned request is discarded with its connection", async () => {
    const relay = await StallingRelay.to(makeServer(), scheme);
    const client = new Client({ baseUrl: relay.url, apiKey });
    const controller = new AbortController();
    const sent = client.dms.send("c_1", { text }, { signal: controller.signal });
    await Promise.race([relay.waitStalled(), sent]);
    controller.abort();
    await rejection(sent);
    expect(await relay.goOn()).toEqual({ end: "ECONNRESET", hasArrived: false });
  });

  test.runIf(isPossible)("control: the system delivers what `fetch` alone gives up", async () => {
    const relay = await StallingRelay.to(makeServer(), scheme);
    const controller = new AbortController();
    const sent = fetch(relay.url, { method: "POST", body: text, signal: controller.signal });
    await Promise.race([relay.waitStalled(), sent]);
    controller.abort();
    await rejection(sent);
    expect(await relay.goOn()).toEqual({ end: "end", hasArrived: true });
  });
});

test("a connection that cannot be reset is closed", async () => {
  const socketPath = join(temporaryFolder(), "platform.sock");
  const server = createServer();
  await once(server.listen(socketPath), "listening");
  onTestFinished(() => void server.close());
  const usual = http.globalAgent;
  onTestFinished(() => {
    http.globalAgent = usual;
  });
  http.globalAgent = new http.Agent({ socketPath } as http.AgentOptions);
  const client = new Client({ baseUrl: "http://platform.test", apiKey });
  const controller = new AbortController();
  const joined = once(server, "connection");
  const sent = client.dms.send("c_1", { text: "hi" }, { signal: controller.signal });
  const socket: Socket = (await joined)[0];
  await once(socket, "data");
  const reason = new Error("enough");
  controller.abort(reason);
  expect(await rejection(sent)).toBe(reason);
  await once(socket, "close");
});

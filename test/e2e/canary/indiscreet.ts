import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenUntilEnd } from "../../support/listen.ts";

/** Faults in the response to a read of the event log. */
export type LogFault = "error" | "words" | "page" | "events" | "elsewhere" | "token";

/** A proxy in front of the platform that echoes each request it rejects. */
export interface Indiscreet {
  readonly url: string;
  /** Responds to the next `times` reads of the log with this fault. Resolves on the read after them. */
  spoil(fault: LogFault, texts: string, times?: number): Promise<void>;
}

export async function indiscreet(platform: string): Promise<Indiscreet> {
  let fault: LogFault | undefined;
  let left = 0;
  let texts = "";
  let over: () => void = () => undefined;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const [status, text, headers] = await answer(request, body);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  });
  const answer = async (request: IncomingMessage, body: Buffer): Promise<Written> => {
    const said = sayBack(request, body);
    if (request.url?.startsWith("/api/v1/events") && fault !== undefined) {
      if (left === 0) over();
      if (left-- > 0) return answers[fault](said, texts);
      fault = undefined;
    }
    if (request.method === "POST" && /"away /.test(body.toString()) && aways++ < 2) {
      return [503, problem("AWAY", said), { "retry-after": "0" }];
    }
    if (/refused |images\.example/.test(body.toString()) || request.url?.includes("/search")) {
      return [400, problem("VALIDATION", said)];
    }
    const headers = new Headers();
    for (const name of ["authorization", "content-type", "accept"]) {
      const value = request.headers[name];
      if (typeof value === "string") headers.set(name, value);
    }
    const { method = "GET" } = request;
    const init: RequestInit = { method, headers, redirect: "manual" };
    if (body.length > 0) init.body = new Uint8Array(body);
    const given = await fetch(`${platform}${request.url}`, init);
    return [given.status, await given.text(), { date: given.headers.get("date") ?? "" }];
  };
  let aways = 0;
  const { url } = await listenUntilEnd(server);
  const spoil = (what: LogFault, words: string, times = 1) =>
    new Promise<void>((resolve) => {
      [fault, left, texts, over] = [what, times, words, resolve];
    });
  return { url, spoil };
}

type Written = [status: number, text: string, headers?: Readonly<Record<string, string>>];

const answers: { readonly [F in LogFault]: (said: string, texts: string) => Written } = {
  error: (said) => [500, problem("BROKEN", said), { "x-request-id": said.slice(0, 40) }],
  words: (said, texts) => [200, `${said} ${texts}`],
  page: (_said, texts) => [200, JSON.stringify({ events: texts, cursor: [texts] })],
  events: (_said, texts) => {
    const odd = { id: "odd", type: "dm.message", payload: { excerpt: [texts], [texts]: texts } };
    return [200, JSON.stringify({ events: [texts, { texts }, odd], cursor: "" })];
  },
  elsewhere: (said) => [302, "", { location: `http://127.0.0.1:9/?${encodeURIComponent(said)}` }],
  token: (said) => [401, problem("UNAUTHORIZED", said)],
};

function problem(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } });
}

function sayBack({ method, url, headers }: IncomingMessage, body: Buffer): string {
  const { authorization } = headers;
  return `${method} ${url} with ${authorization} and ${body.toString()}`;
}

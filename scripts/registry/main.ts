/**
 * An npm registry on loopback: `node scripts/registry/main.ts PORT UPSTREAM`. Serves this project's packages once they
 * are published, and other packages from the upstream registry. Keeps both in memory until it ends.
 */
import { createServer, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

/** A package, as npm publishes and requests it. */
interface Packument {
  readonly name: string;
  readonly versions: Readonly<Record<string, { readonly dist: { tarball: string } }>>;
}

interface Published extends Packument {
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

const [port = "", upstream = ""] = process.argv.slice(2);
const own = `http://127.0.0.1:${port}`;
const OWN_NAMES: ReadonlySet<string> = new Set(["service-bot", "create-service-bot"]);

const missing: Answer = answer(404, "application/json", '{"error":"not found"}');
/** Answers by path, and for the upstream's packages also by media type. */
const answers = new Map<string, Promise<Answer>>([
  ["/-/ping", Promise.resolve(answer(200, "application/json", "{}"))],
]);
/** Addresses of the upstream's tarballs, by path here. */
const tarballs = new Map<string, string>();

function answer(status: number, type: string, body: string | Buffer): Answer {
  return { status, type, body: Buffer.from(body) };
}

function publish({ _attachments, ...packument }: Published): Answer {
  const { name, versions } = packument;
  const now = new Date().toISOString();
  const time = Object.fromEntries(
    ["created", "modified", ...Object.keys(versions)].map((key) => [key, now]),
  );
  const document = answer(200, "application/json", JSON.stringify({ ...packument, time }));
  answers.set(`/${name}`, Promise.resolve(document));
  for (const [file, { data }] of Object.entries(_attachments)) {
    const tarball = answer(200, "application/octet-stream", Buffer.from(data, "base64"));
    answers.set(`/${name}/-/${file}`, Promise.resolve(tarball));
  }
  return answer(201, "application/json", "{}");
}

async function forward(path: string, accept: string): Promise<Answer> {
  const url = tarballs.get(path) ?? upstream.replace(/\/$/, "") + path;
  const response = await fetch(url, { headers: { accept } });
  const type = response.headers.get("content-type") ?? "application/octet-stream";
  const body = Buffer.from(await response.arrayBuffer());
  if (!response.ok || !type.includes("json")) return answer(response.status, type, body);
  return answer(200, type, withOwnTarballs(JSON.parse(body.toString())));
}

/** Makes package managers request the tarballs here. */
function withOwnTarballs(packument: Packument): string {
  for (const { dist } of Object.values(packument.versions ?? {})) {
    const path = `/${packument.name}/-/${dist.tarball.split("/").at(-1)}`;
    tarballs.set(path, dist.tarball);
    dist.tarball = own + path;
  }
  return JSON.stringify(packument);
}

/** This project's names are never forwarded, because another registry may have packages with the same names. */
function read(path: string, accept: string): Promise<Answer> {
  const [, name = ""] = path.split("/");
  const isOwn = OWN_NAMES.has(name) || name === "-";
  const key = isOwn ? path : `${path} ${accept}`;
  const known = answers.get(key) ?? (isOwn ? Promise.resolve(missing) : forward(path, accept));
  if (!isOwn) answers.set(key, known);
  // A failed request may succeed when it is repeated.
  known.catch(() => answers.delete(key));
  return known;
}

function respond(response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, { "content-type": type, "content-length": body.length }).end(body);
}

createServer(async (request, response) => {
  const { method = "", url = "/", headers } = request;
  try {
    if (method === "PUT") respond(response, publish((await json(request)) as Published));
    else if (method !== "GET") respond(response, missing);
    else respond(response, await read(decodeURIComponent(url), headers.accept ?? "*/*"));
  } catch (error) {
    console.error(error);
    respond(response, answer(502, "application/json", '{"error":"the upstream failed"}'));
  }
}).listen(Number(port), "127.0.0.1");

import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { sign } from "../faces/signature.ts";
import {
  batchOf,
  bodyOf,
  delivery,
  follow,
  now,
  secret,
  type TestAnswer,
  type TestRequest,
} from "./support.ts";

/** The test bot's MAX_BODY_BYTES. */
export const MEBIBYTE = 1_048_576;

/**
 * A request and its expected response. The response is a status and an error code, or the numbers of stored and known
 * events. Requests that no client would send are given as bytes. Node itself responds with just a status.
 */
export type Row<R = TestRequest | Buffer> = readonly [name: string, request: R, answer: string];

interface AnswerBody {
  readonly error?: { readonly code: string };
  readonly stored?: number;
  readonly duplicates?: number;
}

/** Describes a response as in a {@link Row}. */
export function sum({ status, text }: TestAnswer): string {
  if (Number.isNaN(status)) return "closed";
  if (text === "") return String(status);
  const { error, stored, duplicates }: AnswerBody = JSON.parse(text);
  if (error !== undefined) return `${status} ${error.code}`;
  return `${status} ${stored} new${duplicates === 0 ? "" : `, ${duplicates} known`}`;
}

const body = batchOf("good");
const good = sign(body, secret, now);
const hex = good.split("v1=")[1] ?? "";
const zeros = "0".repeat(64);

export const one = (id: string, more: TestRequest = {}): TestRequest => delivery(batchOf(id), more);
const signed = (value: string | string[], id = "good"): TestRequest =>
  one(id, { headers: { "x-service-signature": value } });
const eventsIn = (list: readonly unknown[]): TestRequest =>
  delivery(JSON.stringify({ events: list }));
const events = (...list: readonly unknown[]): TestRequest => eventsIn(list);
const encoded = (coding: string, bytes: Uint8Array): TestRequest =>
  delivery(bytes, { headers: { "content-encoding": coding } });

/** Returns the bytes of a request. Each character becomes one byte. */
const wire = (...lines: readonly string[]): Buffer => Buffer.from(lines.join("\r\n"), "latin1");

const posted = (...headers: readonly string[]): Buffer =>
  wire("POST /webhook HTTP/1.1", "host: bot.test", "connection: close", ...headers, "", body);
const length = `content-length: ${body.length}`;
const signature = `x-service-signature: ${good}`;
const chunked = (...lines: readonly string[]): Buffer =>
  wire(
    ...["POST /webhook HTTP/1.1", "host: bot.test", "connection: close", signature],
    ...["transfer-encoding: chunked", "", ...lines],
  );

/** Returns a valid delivery whose request line a client would normalize or reject. */
const asked = (first: string, id: string, ...headers: readonly string[]): Buffer => {
  const text = batchOf(id);
  return wire(
    ...[first, "host: bot.test", "connection: close", `content-length: ${text.length}`],
    ...[`x-service-signature: ${sign(text, secret, now)}`, ...headers, "", text],
  );
};

export const signatures: readonly Row[] = [
  ["no signature", { ...one("good"), headers: {} }, "400 SIGNATURE_MISSING"],
  ["an empty signature", signed(""), "400 SIGNATURE_MALFORMED"],
  ["the good signature twice", signed([good, good]), "400 SIGNATURE_MALFORMED"],
  ["its halves in two headers", signed(good.split(",")), "400 SIGNATURE_MALFORMED"],
  ["a signature of 8 KB", signed(`${good},x=${"a".repeat(8_000)}`), "400 SIGNATURE_MALFORMED"],
  ["a signature of 17 KB", signed(`${good},x=${"a".repeat(17_000)}`), "431"],
  ["two different t", signed(`${good},t=${now + 1}`), "400 SIGNATURE_MALFORMED"],
  ["t of 15 digits", signed(sign(body, secret, 999_999_999_999_999)), "400 SIGNATURE_STALE"],
  ["t in milliseconds", signed(sign(body, secret, now * 1000)), "400 SIGNATURE_STALE"],
  ["t = 0", signed(sign(body, secret, 0)), "400 SIGNATURE_STALE"],
  ["t 300 s old", signed(sign(batchOf("old"), secret, now - 300), "old"), "200 1 new"],
  ["t 301 s old", signed(sign(body, secret, now - 301)), "400 SIGNATURE_STALE"],
  ["t 301 s ahead", signed(sign(body, secret, now + 301)), "400 SIGNATURE_STALE"],
  ["a tab after the comma", signed(`t=${now},\tv1=${hex}`), "400 SIGNATURE_MALFORMED"],
  ["blanks around it all", signed(`  ${sign(batchOf("b"), secret, now)}  `, "b"), "200 1 new"],
  ["two v1, both wrong", signed(`t=${now},v1=${zeros},v1=${zeros}`), "401 SIGNATURE_MISMATCH"],
  [
    "two v1, the second right",
    signed(sign(batchOf("v"), secret, now).replace(",", `,v1=${zeros},`), "v"),
    "200 1 new",
  ],
  ["a signature of zeros", signed(`t=${now},v1=${zeros}`), "401 SIGNATURE_MISMATCH"],
  ["another body's", signed(good, "other"), "401 SIGNATURE_MISMATCH"],
  ["another secret's", signed(sign(body, "whsec_another", now)), "401 SIGNATURE_MISMATCH"],
  ["the prefix cut off", signed(sign(body, secret.slice(6), now)), "401 SIGNATURE_MISMATCH"],
  ["a NUL in it", posted(length, `${signature}\0`), "400"],
  ["a bare CR in it", posted(length, `${signature}\rx: y`), "400"],
  ["a DEL in it", posted(length, `${signature}\x7f`), "400"],
  ["Latin-1 in it", posted(length, `${signature},x=\xfc`), "400 SIGNATURE_MALFORMED"],
  ["UTF-8 in it", posted(length, `${signature},x=\xc3\xbc`), "400 SIGNATURE_MALFORMED"],
  ["a blank before the colon", posted(length, `x-service-signature : ${good}`), "400"],
  [
    "a header over two lines",
    posted(length, `x-service-signature: t=${now},`, ` v1=${hex}`),
    "400",
  ],
  [
    "underscores in its name",
    posted(length, `x_service_signature: ${good}`),
    "400 SIGNATURE_MISSING",
  ],
  [
    "the signature behind the body",
    wire(
      ...["POST /webhook HTTP/1.1", "host: bot.test", "connection: close"],
      ...["transfer-encoding: chunked", "trailer: x-service-signature", ""],
      ...[body.length.toString(16), body, "0", signature, "", ""],
    ),
    "400 SIGNATURE_MISSING",
  ],
];

export const shapes: readonly Row[] = [
  ...[
    ...["null", "true", "5", "[]", '"events"', "{}", '{"events":null}', '{"events":{}}'],
    ...['{"events":"[]"}', '{"events":0}', '{"Events":[]}', '{"__proto__":{"events":[]}}'],
    ...['[{"events":[]}]', '{"events":[]}{"events":[]}', '{"events":[],}', "{'events':[]}"],
    ...['{"events":[NaN]}', '{"events":[]}//', '{"events":[', "{", " ", ""],
  ].map(
    (text): Row => [`the body ${text || "without a byte"}`, delivery(text), "400 BODY_INVALID"],
  ),
  ["a NUL in front", delivery(`\0${body}`), "400 BODY_INVALID"],
  ["a NUL at the end", delivery(`${body}\0`), "400 BODY_INVALID"],
  ["a byte order mark", delivery(`\ufeff${batchOf("bom")}`), "200 1 new"],
  ["two byte order marks", delivery(`\ufeff\ufeff${body}`), "400 BODY_INVALID"],
  ["UTF-16", delivery(Buffer.from(body, "utf16le")), "400 BODY_INVALID"],
  ["bytes that are no UTF-8", delivery(wire('{"events":["\xff"]}')), "200 1 new"],
  ["overlong UTF-8", delivery(wire('{"events":["\xc0\xaf"]}')), "200 1 new"],
  ["a surrogate in UTF-8", delivery(wire('{"events":["\xed\xa0\x80"]}')), "200 1 new"],
  [
    "bytes that are no UTF-8 outside a text",
    delivery(wire('{"events":[\xff]}')),
    "400 BODY_INVALID",
  ],
  ["half a million brackets", delivery("[".repeat(500_000)), "400 BODY_INVALID"],
  ["a million brackets", delivery("[".repeat(1_000_000)), "413 BODY_TOO_COMPLEX"],
  [
    "half a million brackets, closed",
    delivery(`${"[".repeat(500_000)}${"]".repeat(500_000)}`),
    "400 BODY_INVALID",
  ],
];

export const batches: readonly Row[] = [
  ["no event", events(), "200 0 new"],
  ["new fields beside events", delivery('{"events":[],"page":2}'), "200 0 new"],
  ["two lists of events", delivery('{"events":5,"events":[]}'), "200 0 new"],
  [
    "one broken event in a good batch",
    events(follow("a1"), { id: "a2", type: "follow", payload: {} }, follow("a3")),
    "200 3 new",
  ],
  ["elements that are no objects", events(null, 5, "x", [], {}, true), "200 6 new"],
  ["the same nonsense twice", events("nonsense", "nonsense"), "200 1 new, 1 known"],
  ["ten thousand empty elements", eventsIn(Array(10_000).fill([[]])), "200 1 new, 9999 known"],
  ["340,000 empty events", eventsIn(Array(340_000).fill({})), "413 BODY_TOO_COMPLEX"],
  ["20,000 numbers as events", eventsIn(Array(20_000).fill(0)), "413 BODY_TOO_COMPLEX"],
  ["one id twice", events(follow("d1"), follow("d1")), "200 1 new, 1 known"],
  ["one id with two contents", events(follow("d2"), { id: "d2" }), "200 1 new, 1 known"],
  ...[7, null, true, {}, ["id"], "", undefined].map(
    (id): Row => [
      `the id ${JSON.stringify(id) ?? "left out"}`,
      events({ ...follow(""), id }),
      "200 1 new",
    ],
  ),
  ["an id of 100 KB", events(follow("x".repeat(100_000))), "200 1 new"],
  ["ids beyond 2^53", events(follow("9007199254740993"), follow("9007199254740992")), "200 2 new"],
  ["ids that differ behind a NUL", events(follow("n\0a"), follow("n\0b")), "200 2 new"],
  ["ids of two lone surrogates", events(follow("\ud800"), follow("\udfff")), "200 2 new"],
  ["a lone surrogate beside its mark", events(follow("s\ud800"), follow("s\ufffd")), "200 2 new"],
  ["a type with a lone surrogate", events({ ...follow("s1"), type: "\ud800" }), "200 1 new"],
  [
    "a lone surrogate in a name",
    events({ ...follow("s2"), payload: { actor: { username: "\ud800", name: "\0" } } }),
    "200 1 new",
  ],
  ["the id __proto__", events(follow("__proto__")), "200 1 new"],
  ...["__proto__", "constructor", "toString", "\0"].map(
    (type): Row => [
      `the type ${JSON.stringify(type)}`,
      events({ ...follow(`t${type}`), type }),
      "200 1 new",
    ],
  ),
  [
    "__proto__ in every place",
    delivery(
      `{"__proto__":{"polluted":1},"events":[{"id":"p1","type":"x","__proto__":{"polluted":1},` +
        `"payload":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}]}`,
    ),
    "200 1 new",
  ],
  ["a payload that is a list", events({ ...follow("l1"), payload: [] }), "200 1 new"],
  ["a number beyond all numbers", delivery('{"events":[{"id":"e1","x":1e999}]}'), "200 1 new"],
  [
    "a payload 400,000 levels deep",
    delivery(
      `{"events":[{"id":"q1","type":"x","payload":{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}}]}`,
    ),
    "200 1 new",
  ],
  [
    "a count that is too high",
    one("c1", { headers: { "x-service-event-count": "9" } }),
    "200 1 new",
  ],
  [
    "a count that is no number",
    one("c2", { headers: { "x-service-event-count": "NaN" } }),
    "200 1 new",
  ],
];

export const encodings: readonly Row[] = [
  ["gzip", encoded("gzip", gzipSync(body)), "415 BODY_ENCODED"],
  ["Brotli", encoded("br", brotliCompressSync(body)), "415 BODY_ENCODED"],
  ["deflate", encoded("deflate", deflateSync(body)), "415 BODY_ENCODED"],
  ["gzip that claims to be twice", encoded("gzip, gzip", gzipSync(body)), "415 BODY_ENCODED"],
  [
    "gzip, signed before it was packed",
    { ...encoded("gzip", gzipSync(body)), headers: { "x-service-signature": good } },
    "401 SIGNATURE_MISMATCH",
  ],
  ["a bomb of gzip", encoded("gzip", gzipSync(Buffer.alloc(64 * MEBIBYTE))), "415 BODY_ENCODED"],
  ["plain text that claims to be gzip", encoded("gzip", Buffer.from(batchOf("g1"))), "200 1 new"],
  ["other text that claims to be gzip", encoded("gzip", Buffer.from("{}")), "415 BODY_ENCODED"],
  ["noise that claims to be nothing", encoded("identity", gzipSync(body)), "400 BODY_INVALID"],
  ["an unknown coding", encoded("x", Buffer.from("{")), "415 BODY_ENCODED"],
  ["chunks", one("k1", { chunked: true }), "200 1 new"],
  ["a chunk whose size is no number", chunked("zz", body, "0", "", ""), "400"],
  ["a chunk whose size is too large", chunked("fffffffffffffffff", body, "0", "", ""), "400"],
  ["a chunk longer than its size", chunked("5", body, "0", "", ""), "400"],
  ["a chunk with 20 KB of extensions", chunked(`5;${"x".repeat(20_000)}`, ""), "413"],
  ["chunks without an end", chunked(body.length.toString(16), body, ""), "400"],
  ["a length and chunks", posted(length, signature, "transfer-encoding: chunked"), "400"],
  ["an unknown transfer encoding", posted(length, signature, "transfer-encoding: zip"), "400"],
  ["chunked twice", posted(signature, "transfer-encoding: chunked, chunked"), "400"],
  ["two lengths", posted(length, "content-length: 5", signature), "400"],
  ["a negative length", posted("content-length: -5", signature), "400"],
  ["a length in words", posted("content-length: five", signature), "400"],
  ["a length beyond 2^64", posted(`content-length: ${"9".repeat(30)}`, signature), "400"],
  ["no length", posted(signature), "400"],
  ["a length one short", posted(`content-length: ${body.length - 1}`, signature), "400"],
  ["a length one too many", posted(`content-length: ${body.length + 1}`, signature), "400"],
  ["a body that breaks off", posted("content-length: 100000", signature), "400"],
  [
    "a length far over the limit",
    posted("content-length: 9000000000", signature),
    "413 BODY_TOO_LARGE",
  ],
];

export const sizes: readonly Row[] = [
  ["a body at the limit", delivery(bodyOf(MEBIBYTE, "z1")), "200 1 new"],
  ["a body one over", delivery(bodyOf(MEBIBYTE + 1)), "413 BODY_TOO_LARGE"],
  ["a body far over", delivery("x".repeat(5 * MEBIBYTE)), "413 BODY_TOO_LARGE"],
  ["chunks at the limit", delivery(bodyOf(MEBIBYTE, "z2"), { chunked: true }), "200 1 new"],
  ["chunks one over", delivery(bodyOf(MEBIBYTE + 1), { chunked: true }), "413 BODY_TOO_LARGE"],
  ["chunks far over", delivery("x".repeat(5 * MEBIBYTE), { chunked: true }), "413 BODY_TOO_LARGE"],
  [
    "a body over the limit without a signature",
    { ...delivery(bodyOf(MEBIBYTE + 1)), headers: {} },
    "400 SIGNATURE_MISSING",
  ],
];

const types = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "\xff",
  "",
];

export const methods: readonly Row[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"].map(
    (method): Row => [
      method,
      asked(`${method} /webhook HTTP/1.1`, "good"),
      "405 METHOD_NOT_ALLOWED",
    ],
  ),
  ["HEAD", asked("HEAD /webhook HTTP/1.1", "good"), "405"],
  [
    "GET that claims to be POST",
    asked("GET /webhook HTTP/1.1", "good", "x-http-method-override: POST"),
    "405 METHOD_NOT_ALLOWED",
  ],
  ["a method that there is not", asked("DELIVER /webhook HTTP/1.1", "good"), "400"],
  ["post in lower case", asked("post /webhook HTTP/1.1", "good"), "400"],
  ["CONNECT", asked("CONNECT bot.test:80 HTTP/1.1", "good"), "closed"],
  ["POST to a health check", one("good", { path: "/healthz" }), "405 METHOD_NOT_ALLOWED"],
  ...types.map(
    (type, index): Row => [
      `the content type ${JSON.stringify(type)}`,
      one(`m${index}`, { headers: { "content-type": type } }),
      "200 1 new",
    ],
  ),
];

export const paths: readonly Row[] = [
  ...[
    ...["/", "//", "/webhooks", "/webhook/x", "/Webhook", "//webhook", "/webhook//", "/./webhook"],
    ...["/x/../webhook", "/webhook/.", "/webhook/..", "/%77ebhook", "/webhook%00", "/webhook%2f"],
    ...["/webhook;x=1", "/webhook#x", "/webhook&x=1", "http://bot.test"],
    ...["http://bot.test//webhook", "ftp://bot.test/webhook", "http://bot.test?/webhook"],
  ].map(
    (path): Row => [`the path ${path}`, asked(`POST ${path} HTTP/1.1`, "good"), "404 NOT_FOUND"],
  ),
  ["the path *", asked("OPTIONS * HTTP/1.1", "good"), "404 NOT_FOUND"],
  ["a path of 20 KB", asked(`POST /webhook?${"x".repeat(20_000)} HTTP/1.1`, "good"), "431"],
  ["a backslash in the path", asked("POST \\webhook HTTP/1.1", "good"), "400"],
  ["a NUL in the path", asked("POST /webhook\0 HTTP/1.1", "good"), "400"],
  ["a blank in the path", asked("POST /web hook HTTP/1.1", "good"), "400"],
  ...[
    ...["/webhook?", "/webhook?x=1", "/webhook/", "/webhook/?../..", "/webhook?a?b=%00"],
    ...[
      "http://bot.test/webhook",
      "HTTP://another.test:80/webhook?x=1",
      "https://bot.test/webhook/",
    ],
  ].map(
    (path): Row => [`the path ${path}`, asked(`POST ${path} HTTP/1.1`, `path${path}`), "200 1 new"],
  ),
];

export const protocols: readonly Row[] = [
  ["noise", wire("\0\xff\xfe nothing of the kind", "", ""), "400"],
  ["the beginning of TLS", wire("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"), "400"],
  ["the beginning of HTTP/2", wire("PRI * HTTP/2.0", "", "SM", "", ""), "400"],
  ["HTTP/0.9", wire("POST /webhook", "", ""), "400 SIGNATURE_MISSING"],
  ["HTTP/9.9", asked("POST /webhook HTTP/9.9", "good"), "400"],
  ["HTTP/1.0", asked("POST /webhook HTTP/1.0", "h10"), "200 1 new"],
  [
    "no host",
    wire("POST /webhook HTTP/1.1", "connection: close", length, signature, "", body),
    "400",
  ],
  [
    "lines that end in LF alone",
    Buffer.from(String(posted(length, signature)).replaceAll("\r", "")),
    "400",
  ],
  ["an expectation", asked("POST /webhook HTTP/1.1", "x100", "expect: 100-continue"), "200 1 new"],
  ["an expectation nobody knows", asked("POST /webhook HTTP/1.1", "good", "expect: tea"), "417"],
  [
    "a wish for another protocol",
    asked("POST /webhook HTTP/1.1", "up", "upgrade: h2c"),
    "200 1 new",
  ],
  ["a header named __proto__", asked("POST /webhook HTTP/1.1", "hp", "__proto__: x"), "200 1 new"],
  [
    "two hundred other headers",
    asked("POST /webhook HTTP/1.1", "h200", ...Array(200).fill("a: b")),
    "200 1 new",
  ],
  [
    // The names and values have 20 KB, because older versions of Node count nothing else.
    "four thousand other headers",
    asked("POST /webhook HTTP/1.1", "good", ...Array(4_000).fill("a: bcde")),
    "431",
  ],
];

/** Unfinished requests. The server's request timeout is a fifth of a second. */
export const endless: readonly Row<Buffer>[] = [
  ["a connection without a byte", wire(""), "408"],
  ["half a first line", wire("POST /web"), "408"],
  ["headers without an end", wire("POST /webhook HTTP/1.1", "host: bot.test", ""), "408"],
  [
    "a body that never comes",
    wire("POST /webhook HTTP/1.1", "host: x", length, signature, "", ""),
    "408",
  ],
  ["a body that stops", posted(`content-length: ${body.length + 1}`, signature), "408"],
  ["chunks that stop", chunked("5", body.slice(0, 5), ""), "408"],
];

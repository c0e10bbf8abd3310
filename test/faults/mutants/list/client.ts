import { type Mutant, mutantsOf } from "../mutant.ts";

const RETRIES = ["test/client/retries.test.ts"];
const ATTACH = ["test/client/attach.test.ts"];
const LISTING = ["test/client/listing.test.ts"];
const HOSTILE = ["test/client/hostile.test.ts"];
const ANSWERS = ["test/client/answers.test.ts"];
const REPLIES = ["test/reply-images.test.ts"];
const OPTIONS = ["test/client/options.test.ts"];

/** The client says nothing twice, sends nothing in vain, and bears whatever it is answered. */
export const clientMutants: readonly Mutant[] = [
  ...mutantsOf("src/client/retries.ts", RETRIES, [
    {
      name: "the client: a write that may have arrived is not repeated",
      find: '(method === "GET" || !error.sent)',
      replace: "true",
    },
    {
      name: "the client: a write is repeated only after answers that say that nothing happened",
      find: "return error.saysNothingHappened && (error.status === 429 || error.status === 503);",
      replace: "return error.retryable;",
    },
    {
      name: "the client: a gateway's 503 does not say that nothing happened",
      find: "return error.saysNothingHappened && (",
      replace: "return (",
    },
    {
      name: "the client: a used-up quota is not asked again",
      find: "lasting.has(error.code)",
      replace: "false",
    },
    {
      name: "the client: Retry-After is waited for",
      find: "Math.max(asked, ",
      replace: "Math.max(0, ",
    },
    {
      name: "the client: no wait goes beyond the deadline",
      find: "      if (clock.now() + waitMs >= endsAt) return false;\n",
      replace: "",
    },
    {
      name: "the client: an abort ends a wait with its reason",
      find: "      signal.throwIfAborted();\n",
      replace: "",
    },
  ]),
  ...mutantsOf("src/client/http.ts", RETRIES, [
    {
      name: "the client: the poller's reads are not repeated",
      find: "purpose === undefined ? this.#retries : 0",
      replace: "this.#retries",
    },
    {
      name: "the client: each try passes the budget and the breaker",
      find: "number === 1 ? permit : await this.#enter(call, both)",
      replace: "permit",
    },
  ]),
  ...mutantsOf("src/client/attach.ts", ATTACH, [
    {
      name: "the client: what is to be sent is counted before",
      find: "  checkContent({ text, images, imageKeys });\n",
      replace: "",
    },
    {
      name: "the client: an image whose key is of no use is uploaded again",
      find: 'error.code === "INVALID_IMAGE_KEY"',
      replace: "false",
    },
    {
      name: "the client: images are not uploaded again beside a ready key",
      find: "!isOurs || !isStaleKey(error)",
      replace: "!isStaleKey(error)",
    },
    {
      name: "the client: the first upload that fails ends the others",
      find: "    failed.abort(error);\n",
      replace: "",
    },
  ]),
  ...mutantsOf("src/client/listing.ts", LISTING, [
    {
      name: "the client: a listing follows so many empty pages",
      find: "const MAX_EMPTY_PAGES = 100;",
      replace: "const MAX_EMPTY_PAGES = 1_000;",
    },
    {
      name: "the client: a listing is asked for its first page once",
      find: "this.#first ??= this.#read",
      replace: "this.#first = this.#read",
    },
  ]),
  ...mutantsOf("src/client/reading.ts", LISTING, [
    {
      name: "the client: a limit is checked before it is sent",
      find: "    checkLimit({ limit });\n",
      replace: "",
    },
  ]),
  ...mutantsOf("src/client/body.ts", HOSTILE, [
    {
      name: "the client: an answer is read so far and no further",
      find: "const MAX_ANSWER_BYTES = 8 *",
      replace: "const MAX_ANSWER_BYTES = 80 *",
    },
    {
      name: "the client: another content type is no answer",
      find: "if (isPerhapsJson(type)) {",
      replace: "{",
    },
  ]),
  ...mutantsOf("src/client/failure.ts", HOSTILE, [
    {
      name: "the client: 200 with an error in its body is an error",
      find: "return isFailureAlone(body) ? failureOf",
      replace: "return isFailureAlone(undefined) ? failureOf",
    },
  ]),
  ...mutantsOf("src/core/access.ts", OPTIONS, [
    {
      name: "the client: a base address has no password",
      find: 'if (url.username !== "" || url.password !== "")',
      replace: 'if (url.username === ":")',
    },
  ]),
  ...mutantsOf("src/client/errors.ts", REPLIES, [
    {
      name: "a gateway's 503 leaves it open whether the message was sent",
      find: "if (this.status === 503) return this.#isPlatformsOwn;",
      replace: "if (this.status === 503) return true;",
    },
    {
      name: "a success that calls itself a failure leaves it open",
      find: "if (this.status < 300) return",
      replace: "if (this.status < 0) return",
    },
  ]),
  ...mutantsOf("src/client/schemas.ts", HOSTILE, [
    {
      name: "the client: a page with far too many items is not checked item by item",
      find: "if (items > MAX_ITEMS) throw",
      replace: "if (items < 0) throw",
    },
    {
      name: "the client: an empty cursor ends a listing",
      find: 'value === "" ? null : value',
      replace: "value",
    },
  ]),
  ...mutantsOf("src/client/schemas.ts", ANSWERS, [
    {
      name: "the client: a field that is not documented breaks nothing",
      find: "orUndefined(schema).catch(undefined);",
      replace: "orUndefined(schema);",
    },
    {
      name: "the client: a page that does not say so is the last",
      find: "id.nullable().default(null));",
      replace: "id.nullable());",
    },
  ]),
  ...mutantsOf("src/client/http.ts", ATTACH, [
    {
      name: "the client: reading an image has a deadline",
      find: "() => deadline.abort(tooLong)",
      replace: "() => undefined",
    },
  ]),
  ...mutantsOf("src/client/failure.ts", HOSTILE, [
    {
      name: "the client: codes do not show what is redacted",
      find: "code === undefined || !isCode(scrub(code)) ? undefined : code",
      replace: "code",
    },
    {
      name: "the client: nor do request ids",
      find: 'const id = scrub(String(found ?? ""));',
      replace: 'const id = String(found ?? "");',
    },
  ]),
];

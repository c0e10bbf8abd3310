import { numberIn, oneOf, required, STRING } from "../core/kinds.ts";
import { type OptionTable, readOptions } from "../core/option-checks.ts";
import type { PlatformCode } from "../errors.ts";

/** Calls to refuse, and the response. */
export interface RefuseOptions {
  /** A code from section 7 of the platform document, or a newer one. */
  readonly code: PlatformCode | (string & Record<never, never>);
  /** HTTP status. Default: the code's status in section 7, or 400 for other codes. */
  readonly status?: number;
  /** Value of `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number;
  /** `GET` or `POST`. Without `method` and `path`, all calls that the platform can refuse with the code match. */
  readonly method?: string;
  /** Path as in `calls`. `*` matches any id, as in `/dm/conversations/*` + `/messages`. */
  readonly path?: string;
  /** Number of calls to refuse. Default 1. `Infinity` refuses all later calls. */
  readonly times?: number;
}

const OPTIONS: OptionTable<RefuseOptions> = {
  code: required(STRING),
  status: numberIn({ min: 200, max: 599, whole: true }),
  retryAfterSeconds: numberIn(),
  method: oneOf(["GET", "POST"]),
  path: STRING,
  times: numberIn({ min: 1 }),
};

type Fits = (method: string, path: string) => boolean;

const anything: Fits = () => true;
const write: Fits = (method) => method === "POST";
const upload: Fits = (_, path) => path === "/uploads";
const content: Fits = (method, path) => write(method, path) && !upload(method, path);

/**
 * The status of each code, and the calls that it applies to. Background requests, such as for the platform's time, must
 * not use up a refusal. Codes for direct messages also apply to posts and comments, so that a test can refuse any write
 * by a handler.
 */
const codes: { readonly [C in PlatformCode]: readonly [status: number, fits: Fits] } = {
  BLOCKED_HOST: [400, upload],
  NOT_IMAGE: [400, upload],
  TOO_LARGE: [400, upload],
  VALIDATION: [400, write],
  INVALID_IMAGE_KEY: [400, content],
  TOO_MANY_IMAGES: [400, content],
  GROUP_UNSUPPORTED: [400, content],
  EMPTY: [400, content],
  TOO_LONG: [400, content],
  AGENT_SCOPE_MISSING: [403, (method, path) => write(method, path) || path.startsWith("/dm/")],
  BLOCKED: [403, content],
  NOT_FOUND: [404, (_, path) => /^\/(dm\/conversations|posts|users)\/./.test(path)],
  QUOTA_EXCEEDED: [429, write],
  NOT_CONFIGURED: [503, upload],
};

export class Refusals {
  readonly #waiting: { readonly fits: Fits; readonly answer: () => Response; left: number }[] = [];

  add(options: RefuseOptions): void {
    const given = readOptions(options, OPTIONS);
    const { code, retryAfterSeconds, method, path, times = 1 } = given;
    const isKnown = Object.hasOwn(codes, code);
    const [usual, where] = isKnown ? codes[code as PlatformCode] : ([400, anything] as const);
    const named: Fits = (asked, askedPath) =>
      (method === undefined || method === asked) && (path === undefined || covers(path, askedPath));
    const { status = usual } = given;
    const headers =
      retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` };
    const error = { code, message: "The test requested this error." };
    this.#waiting.push({
      fits: method === undefined && path === undefined ? where : named,
      answer: () => Response.json({ error }, { status, headers }),
      left: times,
    });
  }

  /** Uses up the first refusal that matches the call. Returns its response, or `undefined` if none matches. */
  take(method: string, path: string): Response | undefined {
    const found = this.#waiting.find(({ left, fits }) => left > 0 && fits(method, path));
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.answer();
  }
}

function covers(pattern: string, path: string): boolean {
  const [before = "", after] = pattern.split("*");
  if (after === undefined) return pattern === path;
  const id = path.slice(before.length, path.length - after.length);
  return path === `${before}${id}${after}` && id !== "" && !id.includes("/");
}

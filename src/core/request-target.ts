/** Parts of an HTTP request target. */
export interface RequestTarget {
  /** Host and port of an absolute URL. `undefined` in other forms, in which the Host header names the host. */
  readonly authority: string | undefined;
  /** The path as sent, neither decoded nor normalized. `*` in `OPTIONS *`. */
  readonly path: string;
  /** Text after the question mark. Empty if there is no query. */
  readonly query: string;
}

/** Matches the scheme and authority of an absolute URL. */
const ORIGIN = /^https?:\/\/([^/?]*)/i;

/** Splits a request target (RFC 9112, section 3.2). Some proxies send an absolute URL instead of a path. */
export function readTarget(target: string): RequestTarget {
  // `//host/path` is a path, because a request target never omits only the scheme.
  const [origin = "", authority] = target.startsWith("/") ? [] : (ORIGIN.exec(target) ?? []);
  const mark = target.indexOf("?");
  const path = target.slice(origin.length, mark < 0 ? undefined : mark);
  return { authority, path: path || "/", query: mark < 0 ? "" : target.slice(mark + 1) };
}

/**
 * Splits a request target for a server that compares whole paths. Drops a trailing slash, because it is a common
 * mistake in the portal's URL field.
 */
export function readRoute(target: string): Pick<RequestTarget, "path" | "query"> {
  const { path, query } = readTarget(target);
  return { path: path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path, query };
}

import { PlatformError } from "../error.ts";

export interface Incoming {
  readonly request: Request;
  readonly method: string;
  /** Path below the mount path, still encoded. `/` for the mount path itself. */
  readonly path: string;
  /** Full URL with the requested host. */
  readonly url: URL;
  /** Aborts when the client disconnects before the response. */
  readonly gone: AbortSignal;
}

/** A method and a path with at most one parameter, such as `/posts/:id`. */
export interface Route {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly path: string;
}

/** A matched route, and its decoded path parameter. The parameter is empty if the path has none. */
export interface Match<R> {
  readonly route: R;
  readonly id: string;
}

interface Place<R> {
  readonly path: string;
  readonly pattern: RegExp;
  readonly routes: R[];
}

/** Finds routes by method and path. Paths without a parameter take precedence. */
export class Routes<R extends Route> {
  readonly #places: readonly Place<R>[];

  constructor(routes: readonly R[]) {
    const places = new Map<string, Place<R>>();
    const isPlain = ({ path }: Route) => (path.includes(":") ? 1 : 0);
    for (const route of routes.toSorted((a, b) => isPlain(a) - isPlain(b))) {
      const { path } = route;
      const place = places.get(path) ?? { path, pattern: patternOf(path), routes: [] };
      places.set(path, place);
      place.routes.push(route);
    }
    this.#places = [...places.values()];
  }

  /**
   * Returns the route, or `undefined` for an unknown path. HEAD uses the GET route.
   *
   * @throws {PlatformError} 405 METHOD_NOT_ALLOWED if the path supports only other methods
   * @throws {URIError} if the path cannot be decoded
   */
  find(method: string, path: string): Match<R> | undefined {
    for (const { pattern, path: known, routes } of this.#places) {
      const match = pattern.exec(path);
      if (match === null) continue;
      const id = decodeURIComponent(match[1] ?? "");
      const wanted = method === "HEAD" ? "GET" : method;
      const route = routes.find((one) => one.method === wanted);
      if (route !== undefined) return { route, id };
      const allow = routes
        .map((one) => one.method)
        .toSorted()
        .join(", ");
      throw new PlatformError(405, "METHOD_NOT_ALLOWED", `${known} supports only ${allow}.`, {
        Allow: allow,
      });
    }
    return undefined;
  }
}

function patternOf(path: string): RegExp {
  const source = path.replaceAll(/[.$]/g, "\\$&").replace(/:\w+/, "([^/]+)");
  return new RegExp(`^${source}$`);
}

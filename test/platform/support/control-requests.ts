import { bot, type ControlRoute, operations } from "../../faces/platform.ts";

export interface DocumentedRequest {
  readonly method: ControlRoute["method"];
  /** Path below /control/v1, such as `/posts/:id`. */
  readonly path: string;
  readonly status: number;
  /** Method, path and query as on the page. `B` means that the request applies to the first bot by default. */
  readonly text: string;
}

/** The requests of the control API, in the notation of docs/reference/local-platform.md. */
export const controlRequests: readonly DocumentedRequest[] = [
  ...new Map(
    operations
      .flatMap(({ route }) => requestsOf(route))
      .map((one) => [`${one.method} ${one.path}`, one]),
  ).values(),
];

function requestsOf({ method, path, status, args }: ControlRoute): DocumentedRequest[] {
  const query = args.flatMap((argument) => {
    const { in: place, key, fields = [key] } = argument;
    return place === "query" && argument !== bot ? fields.map((name) => `${name}=`) : [];
  });
  const search = query.length === 0 ? "" : `?${query.join("&")}`;
  const mark = args.includes(bot) ? " B" : "";
  const paths = path.endsWith("/:decision")
    ? ["retry", "discard"].map((decision) => path.replace(":decision", decision))
    : [path];
  return paths.map((each) => {
    return { method, path: each, status, text: `${method} /control/v1${each}${search}${mark}` };
  });
}

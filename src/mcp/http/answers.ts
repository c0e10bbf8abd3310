/** Builds the answer to a request that no tool sees, as an error of the protocol. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = -32_000,
): Response {
  const body = { jsonrpc: "2.0", error: { code, message }, id: null };
  return Response.json(body, { status, headers });
}

/** Builds a 503 with `Retry-After`; `retryAfterMs` in ms. */
export function unavailable(message: string, retryAfterMs: number): Response {
  return refusal(503, message, { "Retry-After": `${Math.ceil(retryAfterMs / 1_000)}` });
}

import { token } from "./token.ts";

/** An error response from the platform, or a missing response. */
export class ControlError extends Error {
  override readonly name = "ControlError";
  /** The platform's error code, or `OFFLINE` if there was no response. */
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>;

interface Body {
  readonly json?: unknown;
  readonly bytes?: Blob;
}

const OFFLINE = "The platform does not respond. Is it running? Start it with npm run dev.";

export async function request<T>(
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  { query = {}, ...body }: { readonly query?: Query } & Body = {},
): Promise<T> {
  const response = await send(method, path + search(query), body);
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as T;
  throw refusal(response.status, answer);
}

export async function download(path: string): Promise<Blob> {
  const response = await send("GET", path, {});
  if (response.ok) return response.blob();
  throw refusal(response.status, await response.json().catch(() => undefined));
}

async function send(method: string, path: string, { json, bytes }: Body): Promise<Response> {
  const headers: Record<string, string> = { "X-Control-Token": token() };
  // Send the header even without a body, because the platform requires JSON for every change.
  if (method !== "GET") headers["Content-Type"] = bytes?.type ?? "application/json";
  const body = bytes ?? (json === undefined ? null : JSON.stringify(json));
  try {
    return await fetch(`/control/v1${path}`, { method, headers, body });
  } catch {
    throw new ControlError(0, "OFFLINE", OFFLINE);
  }
}

function refusal(status: number, answer: unknown): ControlError {
  const { error } = (answer ?? {}) as { error?: { code?: string; message?: string } };
  const message = error?.message ?? `The platform responded with ${status}.`;
  return new ControlError(status, error?.code ?? "UNKNOWN", message);
}

function search(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

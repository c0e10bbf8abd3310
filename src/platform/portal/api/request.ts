import { type ControlRequest, targetOf } from "../../control/client.ts";
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

const OFFLINE = "The platform does not respond. Is it running? Start it with npm run dev.";

/** Sends a request of the control API. Returns the JSON of the response, or a file as a Blob. */
export async function send(request: ControlRequest): Promise<unknown> {
  const response = await fetchAnswer(request);
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (response.ok && !isJson) return response.blob();
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw errorOf(response.status, answer);
}

async function fetchAnswer(request: ControlRequest): Promise<Response> {
  const { method, json, bytes } = request;
  const headers: Record<string, string> = { "X-Control-Token": token() };
  // Send the header even without a body, because the platform requires JSON for every change.
  if (method !== "GET") headers["Content-Type"] = bytes?.type ?? "application/json";
  const body = bytes ?? (json === undefined ? null : JSON.stringify(json));
  try {
    return await fetch(targetOf(request), { method, headers, body });
  } catch {
    throw new ControlError(0, "OFFLINE", OFFLINE);
  }
}

function errorOf(status: number, answer: unknown): ControlError {
  const { error } = (answer ?? {}) as { error?: { code?: string; message?: string } };
  const message = error?.message ?? `The platform responded with ${status}.`;
  return new ControlError(status, error?.code ?? "UNKNOWN", message);
}

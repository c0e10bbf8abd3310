import { parseJson } from "../core/json.ts";
import { ServiceBotError } from "../errors.ts";

/** No answer of the platform is nearly as long: fifty items of a page with their texts. In bytes. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Of an error's body no more is read than this, in bytes: cut off, it could not be parsed, and its code is wanted. */
const MAX_ERROR_BYTES = 2 * 1024 * 1024;

/** The body of an answer that is 2xx. Empty, it is undefined. */
export async function readJson(response: Response, request: string): Promise<unknown> {
  const type = response.headers.get("content-type");
  const { text, isWhole } = await readText(response, MAX_ANSWER_BYTES);
  if (!isWhole) {
    throw invalid(
      request,
      `the answer is longer than ${MAX_ANSWER_BYTES} bytes, and was not read to its end.`,
    );
  }
  if (text === "") return undefined;
  if (isPerhapsJson(type)) {
    try {
      return parseJson(text);
    } catch {
      // The parser's words quote the answer.
    }
  }
  const what = /^\s*</.test(text)
    ? "not JSON but a web page, as a proxy or a login form sends"
    : `not JSON (${type === null ? "without a content type" : type.slice(0, 100)})`;
  const origin = "Is SERVICE_BASE_URL the platform's address?";
  throw invalid(request, `the answer (${response.status}) is ${what}. ${origin}`);
}

/** `text/plain` is what servers say that say nothing about their JSON: then the text tells. */
function isPerhapsJson(contentType: string | null): boolean {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return type === "" || type === "text/plain" || /^\w+\/([\w.-]+\+)?json$/.test(type);
}

/** As much of an error's body as is of use; empty where it breaks off or cannot be read. */
export async function readErrorText(response: Response): Promise<string> {
  try {
    return (await readText(response, MAX_ERROR_BYTES)).text;
  } catch {
    return "";
  }
}

/** The body up to so many bytes. What is longer is given up, and its connection with it. */
async function readText(
  response: Response,
  maxBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return { text: decode(chunks), isWhole: false };
    chunks.push(chunk);
  }
  return { text: decode(chunks), isWhole: true };
}

function decode(chunks: readonly Uint8Array[]): string {
  // Without the mark that may begin a text, as `Response.text()` does.
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function invalid(request: string, what: string): ServiceBotError {
  return new ServiceBotError("API_INVALID_RESPONSE", `${request}: ${what}`);
}

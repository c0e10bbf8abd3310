import { connect } from "node:net";
import type { Platform } from "../../faces/platform.ts";

/** Sends these lines unmodified as a request's head. Resolves to the raw response. */
export function rawRequest(
  platform: Platform,
  lines: readonly string[],
  body = "",
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(platform.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    let text = "";
    socket.setEncoding("utf8").on("data", (part) => {
      text += part;
    });
    socket.once("error", reject);
    socket.once("end", () => {
      socket.end();
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text });
    });
    socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n${body}`);
  });
}

import { connect } from "node:net";

/** Sends these lines unmodified as a request's head. Resolves to the raw response. */
export function rawRequest(
  server: { readonly url: string },
  lines: readonly string[],
  body = "",
): Promise<{ readonly status: number; readonly text: string }> {
  const { hostname, port } = new URL(server.url);
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

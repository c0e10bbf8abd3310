import { Agent, request } from "node:http";
import { sign } from "../../faces/signature.ts";

/** Sends signed deliveries to a bot's webhook in place of the platform, over persistent connections. */
export class Poster {
  readonly #url: string;
  readonly #secret: string;
  readonly #agent: Agent;

  constructor(url: string, secret: string, connections: number) {
    this.#url = url;
    this.#secret = secret;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /**
   * Resolves to the response status.
   *
   * @param body the exact bytes to send
   * @param onPort called with the connection's local port before the request is sent
   */
  post(body: string, onPort: (port: number) => void = () => undefined): Promise<number> {
    const signature = sign(body, this.#secret, Date.now() / 1000);
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#url, {
        method: "POST",
        agent: this.#agent,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          "x-service-signature": signature,
        },
      });
      outgoing.on("error", reject);
      outgoing.once("socket", (socket) => {
        const notify = () => onPort(socket.localPort ?? 0);
        if (socket.connecting) socket.once("connect", notify);
        else notify();
      });
      outgoing.on("response", (response) => {
        response.on("error", reject);
        response.on("end", () => resolve(response.statusCode ?? 0));
        response.resume();
      });
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

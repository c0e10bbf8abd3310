import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenUntilEnd } from "../support/listen.ts";

/** Holds a request before the platform receives it, or before the bot receives the response. */
export type Side = "before" | "after";

interface Hold {
  readonly fits: (path: string, body: string) => boolean;
  readonly side: Side;
  readonly reached: () => void;
}

/** A proxy between a bot and its platform. It holds a request, so that a test can kill the bot in the meantime. */
export class Gate {
  readonly url: string;
  readonly #target: URL;
  #hold: Hold | undefined;

  private constructor(url: string, target: URL) {
    this.url = url;
    this.#target = target;
  }

  static async to(target: string): Promise<Gate> {
    const server = createServer();
    const { url } = await listenUntilEnd(server);
    const gate = new Gate(url, new URL(target));
    server.on("request", (incoming, response) => void gate.#pass(incoming, response));
    return gate;
  }

  /**
   * Holds the next matching request until the bot is killed.
   *
   * @returns resolves once the request is held
   */
  hold(side: Side, fits: Hold["fits"]): Promise<void> {
    return new Promise((reached) => {
      this.#hold = { fits, side, reached };
    });
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming).catch(() => undefined);
    // The bot was killed while it was sending the body.
    if (body === undefined) return;
    const { url: path = "/", method, headers } = incoming;
    const hold = this.#take(path, body.toString());
    if (hold?.side === "before") return hold.reached();
    const there = { method, headers: { ...headers, host: this.#target.host } };
    const onward = request(new URL(path, this.#target), there, (answer) => {
      if (hold !== undefined) {
        answer.resume().once("end", hold.reached);
      } else {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }
    });
    onward.on("error", () => response.destroy());
    // The killed bot's long poll has to end.
    response.once("close", () => onward.destroy());
    onward.end(body);
  }

  #take(path: string, body: string): Hold | undefined {
    const hold = this.#hold;
    if (hold?.fits(path, body) !== true) return undefined;
    this.#hold = undefined;
    return hold;
  }
}

import { Socket } from "node:net";

/** The sockets of all connections to a database, so that none is waited for on which nobody answers. */
export class Sockets {
  readonly #open = new Set<Socket>();
  #cut = false;

  /** One that the driver connects. */
  make(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    // Not before the driver has it, which would connect one that is destroyed all the same.
    if (this.#cut) setImmediate(() => socket.destroy());
    return socket;
  }

  /** Cuts all, and each that is made from now on: what waits for them fails at once. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#open) socket.destroy();
  }
}

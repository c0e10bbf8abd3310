/** What the driver may ask for while the bot runs. */
export interface Order {
  readonly disk?: "full" | "free";
  /** How far the system's clock is to be ahead, in milliseconds. */
  readonly clockOffsetMs?: number;
}

/** Does what the driver asks for. It does not keep the process alive. */
export function onOrder(carryOut: (order: Order) => void): void {
  process.on("message", carryOut);
  process.channel?.unref();
}

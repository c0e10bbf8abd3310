/** Where the structure of an image ends, or what is wrong with it: a clause for a message. */
export type Walk = { readonly end: number } | { readonly problem: string };

/** @param missing what should have come, such as `its end marker` */
export function cutOff(missing: string): Walk {
  return { problem: `it is cut off before ${missing}` };
}

/** Four bytes as text. */
export function fourAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}

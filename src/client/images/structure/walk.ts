/** What is wrong with an image: a clause for a message. */
export interface Problem {
  readonly problem: string;
}

/** Where the structure of an image ends, or what is wrong with it. */
export type Walk = { readonly end: number } | Problem;

/** @param missing what should have come, such as `its end marker` */
export function cutOff(missing: string): Problem {
  return { problem: `it is cut off before ${missing}` };
}

/** Four bytes as text. */
export function fourAt(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}

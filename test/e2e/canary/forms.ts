/** Something unmistakable. */
export interface Canary {
  readonly name: string;
  /** What is looked for: letters and digits alone, so that JSON and URLs do not change it. */
  readonly song: string;
}

/** Which canaries are in a text: as they are, in hex, or in base64 with any neighbours, also that of URLs. */
export function leaks(text: string, canaries: readonly Canary[]): string[] {
  const lower = text.toLowerCase();
  return canaries
    .filter(({ song }) => formsOf(song).some((form) => lower.includes(form.toLowerCase())))
    .map(({ name }) => name);
}

function formsOf(song: string): string[] {
  const middles = ["", "x", "xx"].map((before) =>
    // The ends also depend on what stands beside it.
    Buffer.from(before + song)
      .toString("base64")
      .slice(4, -4),
  );
  const ofUrls = middles.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  return [song, Buffer.from(song).toString("hex"), ...middles, ...ofUrls];
}

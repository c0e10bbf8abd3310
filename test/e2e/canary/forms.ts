export interface Canary {
  readonly name: string;
  /** Text to search for. Contains only letters and digits, which JSON and URL encoding leave unchanged. */
  readonly song: string;
}

/** Returns the names of the canaries found in a text: plain, in hex, or in base64 (also base64url) at any offset. */
export function leaks(text: string, canaries: readonly Canary[]): string[] {
  const lower = text.toLowerCase();
  return canaries
    .filter(({ song }) => formsOf(song).some((form) => lower.includes(form.toLowerCase())))
    .map(({ name }) => name);
}

function formsOf(song: string): string[] {
  const middles = ["", "x", "xx"].map((before) =>
    // The first and last characters also depend on adjacent bytes.
    Buffer.from(before + song)
      .toString("base64")
      .slice(4, -4),
  );
  const ofUrls = middles.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  return [song, Buffer.from(song).toString("hex"), ...middles, ...ofUrls];
}

import type { Packed } from "./stage.ts";

type Limit = Pick<Packed, "packedBytes" | "unpackedBytes" | "files">;

/** Slightly above the current sizes, so that an accidental addition fails the check. */
const limits: Readonly<Record<string, Limit>> = {
  "service-bot": { packedBytes: 600_000, unpackedBytes: 2_300_000, files: 140 },
  // Small, because npm downloads the whole package before it writes the first file of a bot.
  "create-service-bot": { packedBytes: 200_000, unpackedBytes: 1_000_000, files: 100 },
};

export function refuseTooLarge(packed: Packed): void {
  const limit = limits[packed.name];
  if (limit === undefined) throw new Error(`scripts/pack/size.ts has no limit for ${packed.name}.`);
  const above = measures.filter((measure) => packed[measure] > limit[measure]);
  if (above.length === 0) return;
  const words = above.map((measure) => `${measure} ${packed[measure]} of ${limit[measure]}`);
  throw new Error(
    `${packed.name} exceeds its size limit: ${words.join(", ")}.\n` +
      "List the new files with `tar tzf`. If they belong in the package, raise the limit in scripts/pack/size.ts.",
  );
}

const measures = ["packedBytes", "unpackedBytes", "files"] as const;

/** Sizes are in kB (1,000 bytes). */
export function sizeTable(packages: readonly Packed[]): string {
  return packages
    .map(({ name, version, packedBytes, unpackedBytes, files }) => {
      const [packed, unpacked] = [packedBytes, unpackedBytes].map(kilobytes);
      return `${`${name} ${version}`.padEnd(26)} ${packed} packed, ${unpacked} unpacked, ${files} files`;
    })
    .join("\n");
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1000)} kB`.padStart(7);
}

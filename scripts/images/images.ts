import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "../root.ts";

export const TEMPLATES: string = join(root, "templates");

/** Images without a digest, by reference, each with its reason. */
export const unpinned: Readonly<Record<string, string>> = {
  "registry.example.org/my-bot:1.0.0": "stands for the image of the reader's own bot",
};

/** Reference such as `node:24-slim` or `node:24-slim@sha256:…`, with what precedes it in its line. */
const REFERENCE =
  /^([ \t]*(?:FROM|(?:- )?image:)[ \t]+)([\w./:-]+)(?:@(sha256:[0-9a-f]{64}))?(?=[ \t]|$)/gm;

/** Lines that name an image, in any form. */
const NAMING = /^[ \t]*(?:FROM[ \t]|(?:- )?["']?image["']?[ \t]*:)/gm;

export interface ImageReference {
  /** Path relative to the folder. */
  readonly file: string;
  readonly image: string;
  readonly digest: string | undefined;
}

/** Returns the image references in a folder's Dockerfiles, Compose files and manifests. */
export function imageReferences(folder: string): readonly ImageReference[] {
  return filesIn(folder).flatMap((path) => {
    const file = relative(folder, path);
    const text = readFileSync(path, "utf8");
    const found = [...text.matchAll(REFERENCE)];
    if (found.length !== (text.match(NAMING) ?? []).length) {
      throw new Error(`${file} names an image in a form that this program does not know.`);
    }
    return found.map(([, , image = "", digest]) => ({ file, image, digest }));
  });
}

export interface PinOptions {
  /** Returns an image's current digest, which covers all its architectures. */
  digestOf(image: string): string;
  /** Whether to leave the files as they are. */
  readonly isDryRun?: boolean;
}

/** Pins each image by its current digest, except examples. Returns the changed references. */
export function pinImages(
  folder: string,
  { digestOf, isDryRun = false }: PinOptions,
): readonly ImageReference[] {
  const outdated = imageReferences(folder)
    .filter(({ image }) => !isExample(image))
    .map((reference) => ({
      ...reference,
      before: reference.digest,
      digest: digestOf(reference.image),
    }))
    .filter(({ before, digest }) => before !== digest);
  for (const { file, image, digest } of isDryRun ? [] : outdated) {
    const path = join(folder, file);
    const text = readFileSync(path, "utf8").replace(REFERENCE, (line, start, name) =>
      name === image ? `${start}${image}@${digest}` : line,
    );
    writeFileSync(path, text);
  }
  return outdated.map(({ file, image, digest }) => ({ file, image, digest }));
}

function isExample(image: string): boolean {
  return image.startsWith("registry.example.org/");
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?:^Dockerfile|\.ya?ml$)/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

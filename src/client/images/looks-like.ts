// biome-ignore-all lint/suspicious/noControlCharactersInRegex: bytes are matched, written as characters
import { asciiOf, brandsOf } from "../../core/image-kind.ts";

/** What bytes that are no image seem to be. */
export interface Looks {
  /** With its article: `a PDF`. */
  readonly name: string;
  /** A sentence, or nothing. */
  readonly remedy: string;
}

const CONVERT = "Save it as one of these.";

/** How files begin, one character for each byte. */
const beginnings: readonly (readonly [begins: RegExp, name: string, remedy?: string])[] = [
  [/^%PDF-/, "a PDF", "Render the page to PNG."],
  [/^PK(\x03\x04|\x05\x06)/, "a ZIP archive or an Office document"],
  [/^BM.{4}\0\0\0\0/s, "a BMP image", CONVERT],
  [/^(II\*\0|MM\0\*|II\+\0|MM\0\+)/, "a TIFF or a camera's raw image", CONVERT],
  [/^\0\0[\x01\x02]\0/, "an icon (ICO)", CONVERT],
  [/^8BPS/, "a Photoshop document", "Export it as PNG."],
  [/^(\xff\x0a|\0\0\0\x0cJXL )/, "a JPEG XL image", CONVERT],
  [/^(\xff\x4f\xff\x51|\0\0\0\x0cjP)/, "a JPEG 2000 image", CONVERT],
  [/^RIFF.{4}AVI /s, "an AVI video", "Send a still of it."],
  [/^RIFF.{4}WAVE/s, "a WAV sound"],
  [/^\x1a\x45\xdf\xa3/, "a WebM or Matroska video", "Send a still of it."],
  [/^Rar!/, "a RAR archive"],
  [/^7z\xbc\xaf/, "a 7z archive"],
  [/^\x1f\x8b/, "gzip", "Unpack it first."],
  [/^(MZ|\x7fELF)/, "a program"],
  [/^(version https:\/\/git-lfs)/, "a pointer of Git LFS", "Fetch the file with git lfs pull."],
  [/^(iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)/, "base64 text", "Decode it first."],
  [/^data:/i, "the text of a data: URL", "Pass it as a string."],
  [/^\s*(<\?xml[^>]*>\s*)?(<!--[^>]{0,200}-->\s*)?<svg\b/i, "an SVG drawing", "Render it to PNG."],
  [
    /^\s*<(!doctype html|html|head|body)\b/i,
    "an HTML page",
    "Perhaps it is the error page of where it was fetched from.",
  ],
];

/** Families of the ISO base media format, by a brand. */
const families: readonly (readonly [brand: RegExp, name: string, remedy: string])[] = [
  [/^(hei[cxms]|hev[cxms]|mif1|msf1)$/, "a HEIC photo", "Save it as JPEG or AVIF."],
  [/^qt {2}$/, "a QuickTime video", "Send a still of it."],
  [/^./s, "an MP4 video", "Send a still of it."],
];

/** Looks at the first kilobyte. */
export function looksLike(bytes: Uint8Array): Looks {
  const head = asciiOf(bytes.subarray(0, 1024)).replace(/^\xef\xbb\xbf/, "");
  const brands = brandsOf(head);
  const family = families.find(([brand]) => brands.some((name) => brand.test(name)));
  if (family !== undefined) return { name: family[1], remedy: family[2] };
  const beginning = beginnings.find(([begins]) => begins.test(head));
  if (beginning !== undefined) return { name: beginning[1], remedy: beginning[2] ?? "" };
  return { name: isText(bytes) ? "text" : "something else", remedy: "" };
}

function isText(bytes: Uint8Array): boolean {
  // `stream`: the cut may go through a character.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    const text = decoder.decode(bytes.subarray(0, 1024), { stream: true });
    return !/[\0-\x08\x0e-\x1f]/.test(text);
  } catch {
    return false;
  }
}

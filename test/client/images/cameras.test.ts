import { describe, expect, test } from "vitest";
import { checkImage } from "../../faces/client.ts";
import { refusal } from "./refusal.ts";
import { noise, sampleOf, samples, video, withChunk, withSegment } from "./samples.ts";

const jpeg = sampleOf("jpeg");
const progressive = samples.find(({ name }) => name === "progressive JPEG")?.bytes ?? jpeg;
const latin1 = (text: string) => Buffer.from(text, "latin1");

/** Records as Samsung's phones append them: each behind the other, then their directory. */
function samsung(...records: readonly (readonly [name: string, data: Buffer])[]): Buffer {
  const made = records.map(([name, data]) => {
    const head = Buffer.alloc(8);
    head.writeUInt16LE(0x0a30, 2);
    head.writeUInt32LE(name.length, 4);
    return Buffer.concat([head, latin1(name), data]);
  });
  const total = made.reduce((sum, { length }) => sum + length, 0);
  const directory = Buffer.alloc(12 + 12 * made.length);
  directory.write("SEFH");
  directory.writeUInt32LE(106, 4);
  directory.writeUInt32LE(made.length, 8);
  let before = 0;
  for (const [index, record] of made.entries()) {
    directory.writeUInt32LE(total - before, 12 + 12 * index + 4);
    directory.writeUInt32LE(record.length, 12 + 12 * index + 8);
    before += record.length;
  }
  const length = Buffer.alloc(4);
  length.writeUInt32LE(directory.length);
  return Buffer.concat([...made, directory, length, latin1("SEFT")]);
}

describe("what cameras and phones make passes", () => {
  test.each<[string, Buffer[]]>([
    ["a preview behind the picture (MPF)", [jpeg, jpeg]],
    ["pictures with padding between them (MPF)", [jpeg, Buffer.alloc(37), progressive, jpeg]],
    ["FF as padding before the next picture", [jpeg, Buffer.from([255, 255, 255]), jpeg]],
    ["a motion photo of Google", [jpeg, video()]],
    ["a motion photo with a gain map", [jpeg, jpeg, video()]],
    ["a motion photo with padding", [jpeg, Buffer.alloc(6), video()]],
    ["a motion photo with a label behind it", [jpeg, video(), latin1("LIVE_1234567   ")]],
    ["a motion photo of Samsung", [jpeg, samsung(["MotionPhoto_Data", video()])]],
    [
      "several records of Samsung",
      [jpeg, samsung(["Image_UTC_Data", latin1("1700000000000")], ["Depth", noise(900)])],
    ],
    ["records of Samsung behind a gain map", [jpeg, jpeg, samsung(["Image_UTC_Data", noise(9)])]],
    ["records of Samsung behind a PNG", [sampleOf("png"), samsung(["Screen", noise(9)])]],
    [
      "a thumbnail in the EXIF",
      [withSegment(jpeg, 0xe1, Buffer.concat([latin1("Exif\0\0"), jpeg]))],
    ],
    ["maker's notes", [withSegment(jpeg, 0xe1, noise(60_000))]],
    ["a comment", [withSegment(jpeg, 0xfe, latin1("CREATOR: gd-jpeg v1.0, quality = 90\n"))]],
    [
      "fill bytes before a marker",
      [jpeg.subarray(0, 2), Buffer.from([255, 255]), jpeg.subarray(2)],
    ],
    ["a text chunk of PNG", [withChunk(sampleOf("png"), "tEXt", latin1("Software\0a < b > c"))]],
    [
      "XMP in a PNG",
      [
        withChunk(
          sampleOf("png"),
          "iTXt",
          latin1('XML:com.adobe.xmp\0\0\0\0\0<?xpacket begin=""?>'),
        ),
      ],
    ],
  ])("%s", (_, parts) => {
    expect(["jpeg", "png"]).toContain(checkImage(Buffer.concat(parts)));
  });

  test("a GIF with a comment, an extension and zeros between its blocks", () => {
    const gif = sampleOf("gif");
    const blocks = latin1("\x21\xfe\x0bMade by Ada\0\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0\0\0");
    const bytes = Buffer.concat([gif.subarray(0, -1), blocks, gif.subarray(-1)]);
    expect(checkImage(bytes)).toBe("gif");
  });
});

describe("what only looks like it is refused", () => {
  const zip = latin1("PK\x05\x06\0\0\0\0\0\0\0\0");
  const damaged = samsung(["MotionPhoto_Data", video()]);
  damaged.writeUInt32LE(9_999, damaged.length - 8);
  const farther = samsung(["Image_UTC_Data", noise(9)]);
  farther.writeUInt32LE(300, farther.indexOf("SEFH") + 16);
  const early = samsung(["Image_UTC_Data", noise(9)]);

  test.each<[string, Buffer[]]>([
    ["a second picture that is cut off", [jpeg, jpeg.subarray(0, -20)]],
    ["a video that is cut off", [jpeg, video().subarray(0, -20)]],
    ["a video behind a PNG", [sampleOf("png"), video()]],
    ["a picture behind a PNG", [sampleOf("png"), sampleOf("png")]],
    ["a long label behind a video", [jpeg, video(), Buffer.alloc(1_025, "x")]],
    ["a label behind the picture alone", [jpeg, latin1("LIVE_1234567")]],
    ["an archive behind a video", [jpeg, video(), zip]],
    ["an archive in the records of Samsung", [jpeg, samsung(["Image_UTC_Data", zip])]],
    ["a directory of Samsung that is damaged", [jpeg, damaged]],
    ["records of Samsung that reach back into the picture", [jpeg, noise(50), farther]],
    ["bytes between the picture and the records", [jpeg, noise(50), early]],
    ["text that ends like the records", [jpeg, latin1("alert(1)//SEFT")]],
  ])("%s", async (_, parts) => {
    const error = await refusal(() => checkImage(Buffer.concat(parts)));
    expect(error.platformCode).toBe("VALIDATION");
  });
});

export class Bytes {
  #data: Buffer;
  #size: number;

  constructor(data: Buffer = Buffer.alloc(0)) {
    this.#data = data;
    this.#size = data.length;
  }

  write(offset: number, data: Buffer): void {
    const end = offset + data.length;
    if (end > this.#data.length) {
      const larger = Buffer.alloc(Math.max(end, this.#data.length * 2));
      this.#data.copy(larger, 0, 0, this.#size);
      this.#data = larger;
    }
    data.copy(this.#data, offset);
    this.#size = Math.max(this.#size, end);
  }

  truncate(size: number): void {
    if (size < this.#size) this.#data.fill(0, size, this.#size);
    else if (size > this.#size) this.write(size, Buffer.alloc(0));
    this.#size = size;
  }

  copy(): Bytes {
    return new Bytes(this.toBuffer());
  }

  toBuffer(): Buffer {
    return Buffer.from(this.#data.subarray(0, this.#size));
  }
}

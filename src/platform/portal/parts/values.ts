export class Values extends FormData {
  text(name: string): string {
    return String(this.get(name) ?? "").trim();
  }

  checked<T extends string>(name: string): T[] {
    return this.getAll(name).map((value) => value as T);
  }
}

/** The size of an image in pixels, as its file's headers say. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

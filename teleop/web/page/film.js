// The frames since the start, kept to look back over. They are previews: what is recorded stays with the server.

// 64 by 64 pixels are about 3 kB, so that this is 18 MB and ten minutes at 10 FPS; a phone must not hold hours.
const MOST_FRAMES = 6000;

/** Frames in the order of their steps. A frame no later than the last drops those it replaces: the person went back. */
export function makeFilm() {
  const frames = [];
  return {
    add(frame) {
      while (frames.length && frames.at(-1).step >= frame.step) frames.pop();
      frames.push(frame);
      if (frames.length > MOST_FRAMES) frames.shift();
    },
    /** The frame of that step, or the nearest before it: a slow line leaves previews out. */
    at: (step) => frames.findLast((frame) => frame.step <= step) ?? frames[0],
    frames,
  };
}

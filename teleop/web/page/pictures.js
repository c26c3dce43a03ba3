// The live pictures: one canvas for each camera and world. Only the newest frame is ever decoded.

import { element } from "./elements.js";

const CAPTION_HEIGHT = 24;

/**
 * Pictures inside `container`. `show(frame)` draws it unless a newer one comes first, and resolves to whether it did;
 * `first` is the canvas of the first camera, in which a pointer leads.
 */
export function makePictures(container, about) {
  const canvases = new Map();
  let waiting = null;
  let busy = false;

  for (const { name, width, height } of about.cameras) add(name, width, height);

  function add(key, width, height) {
    const canvas = element("canvas", { width, height, role: "img" });
    container.append(element("figure", {}, canvas, element("figcaption")));
    canvases.set(key, canvas);
    fit(container, canvases);
    return canvas;
  }

  function show(frame) {
    waiting?.settle(false);
    return new Promise((settle) => {
      waiting = { frame, settle };
      if (!busy) drain();
    });
  }

  async function drain() {
    busy = true;
    while (waiting) {
      const { frame, settle } = waiting;
      waiting = null;
      settle(await draw(frame).then(() => true, () => false));
    }
    busy = false;
  }

  async function draw({ views }) {
    const bitmaps = await Promise.all(views.map(({ picture }) => createImageBitmap(picture)));
    const keys = views.map((view) => keyOf(view, views[0]));
    removeAllBut(keys);
    keys.forEach((key, index) => {
      const bitmap = bitmaps[index];
      const canvas = canvases.get(key) ?? add(key, bitmap.width, bitmap.height);
      canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
      canvas.nextElementSibling.textContent = `${views[index].world} · ${views[index].camera}`;
      bitmap.close();
    });
  }

  function removeAllBut(keys) {
    for (const [key, canvas] of canvases) {
      if (keys.includes(key)) continue;
      canvas.closest("figure").remove();
      canvases.delete(key);
      fit(container, canvases);
    }
  }

  new ResizeObserver(() => fit(container, canvases)).observe(container);
  return { show, first: canvases.values().next().value };
}

// The world that is driven comes first; another one beside it has the same cameras.
const keyOf = ({ camera, world }, first) => (world === first.world ? camera : `beside ${camera}`);

// Whole multiples of a picture's own pixels: `pixelated` then shows every pixel, of which a policy sees no more, at one
// size. A picture larger than its room is scaled down smoothly instead.
function fit(container, canvases) {
  const ratio = devicePixelRatio || 1;
  const [wide, high] = roomForEach(container, [...canvases.values()]);
  for (const canvas of canvases.values()) {
    const scale = Math.min(wide / canvas.width, high / canvas.height) * ratio;
    const whole = scale >= 1 ? Math.floor(scale) : scale;
    canvas.style.width = `${(canvas.width * whole) / ratio}px`;
    canvas.style.imageRendering = scale >= 1 ? "pixelated" : "auto";
  }
}

// Width and height for each of several pictures, in as many columns as make them largest.
function roomForEach(container, [first, ...others]) {
  const style = getComputedStyle(container);
  const gap = parseFloat(style.columnGap);
  const count = 1 + others.length;
  const rooms = Array.from({ length: count }, (_, index) => {
    const columns = index + 1;
    const rows = Math.ceil(count / columns);
    const wide = (container.clientWidth - gap * (columns - 1)) / columns;
    const high = (parseFloat(style.getPropertyValue("max-height")) - gap * (rows - 1)) / rows - CAPTION_HEIGHT;
    return [wide, high, Math.min(wide / first.width, high / first.height)];
  });
  return rooms.reduce((best, room) => (room[2] > best[2] ? room : best));
}

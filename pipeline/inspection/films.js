"use strict";
(() => {
  const films = [...document.querySelectorAll("video")];
  const button = document.getElementById("play");
  if (!films.length) return;
  const toggle = (film) => film.paused ? film.play() : film.pause();
  const playing = () => films.some((film) => !film.paused);
  for (const film of films) {
    // The browser's own controls cover a third of a small film.
    film.controls = false;
    film.tabIndex = 0;
    film.onclick = () => toggle(film);
    film.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle(film);
    };
    film.onplay = film.onpause = () => { button.textContent = playing() ? "Stop all" : "Play all"; };
  }
  button.onclick = () => {
    const stop = playing();
    for (const film of films) stop ? film.pause() : film.play();
  };
  button.hidden = document.getElementById("hint").hidden = false;
})();

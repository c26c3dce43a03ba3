"use strict";
(() => {
  const data = JSON.parse(document.getElementById("episodes").textContent);
  const PAGE = 200, NUMBERS = new Set([0, 2, 4, 5]);
  const rows = data.rows.map(([index, id, steps, outcome, score, trust, task, reason]) =>
    [index, id, steps, data.texts[outcome], score, trust, data.texts[task], data.texts[reason]]);
  const find = (name) => document.getElementById(name);
  const [body, text, outcome, count, more] = ["rows", "search", "outcome", "count", "more"].map(find);
  let shown = PAGE, column = 0, rising = true;

  const fits = (row) => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hay = [row[1], row[6], row[7]].join(" ").toLowerCase();
    return (!outcome.value || row[3] === outcome.value) && words.every((word) => hay.includes(word));
  };
  const compare = (a, b) => {
    const [x, y] = [a[column], b[column]];
    return (NUMBERS.has(column) ? (x ?? -1) - (y ?? -1) : String(x).localeCompare(String(y))) * (rising ? 1 : -1) || a[0] - b[0];
  };
  const cell = (value, number) => {
    const made = document.createElement("td");
    made.textContent = [4, 5].includes(number) ? value?.toFixed(2) ?? "" : value;
    if (NUMBERS.has(number)) made.className = "number";
    const picture = number === 1 && (find("film-" + value) || find("stills-" + value));
    if (picture) {
      const link = document.createElement("a");
      link.href = "#" + encodeURIComponent(picture.id);
      link.textContent = value;
      made.replaceChildren(link);
    }
    return made;
  };
  const draw = () => {
    const found = rows.filter(fits).sort(compare);
    body.replaceChildren(...found.slice(0, shown).map((row) => {
      const made = document.createElement("tr");
      made.append(...row.map(cell));
      return made;
    }));
    count.textContent = `${found.length} of ${rows.length}`;
    more.hidden = found.length <= shown;
    more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more`;
  };

  for (const head of document.querySelectorAll("#table button")) {
    head.onclick = () => {
      const chosen = Number(head.dataset.column);
      rising = chosen === column ? !rising : true;
      column = chosen;
      for (const other of document.querySelectorAll("#table th")) other.removeAttribute("aria-sort");
      head.parentElement.setAttribute("aria-sort", rising ? "ascending" : "descending");
      draw();
    };
  }
  text.oninput = outcome.onchange = () => { shown = PAGE; draw(); };
  more.onclick = () => { shown += PAGE; draw(); };
  draw();
})();

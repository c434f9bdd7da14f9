"use strict";
// Tables sort by a heading: numbers by value, words by letters, missing values last. Without this script they stay as
// they are.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      const numeric = heading.classList.contains("n");
      const key = (row) => {
        const cell = row.cells[column];
        if (!numeric) return cell.textContent;
        return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
      };
      const compare = (a, b) => {
        if (a === null || b === null) return (a === null) - (b === null);
        const order = numeric ? (a > b) - (a < b) : a.localeCompare(b);
        return up ? order : -order;
      };
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => compare(a[0], b[0]));
      body.append(...rows.map((pair) => pair[1]));
      for (const other of headings) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    });
  });
}
// A figure's own attributes hold its colours on white; without the page's classes they are what counts.
for (const button of document.querySelectorAll("button.download")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const svg = button.closest("figure").querySelector("svg").cloneNode(true);
    for (const element of svg.querySelectorAll("[class]")) element.removeAttribute("class");
    const margin = 12;
    const { width, height } = svg.viewBox.baseVal;
    const frame = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin };
    svg.setAttribute("viewBox", Object.values(frame).join(" "));
    svg.setAttribute("width", frame.width);
    svg.setAttribute("height", frame.height);
    const paper = document.createElementNS(svg.namespaceURI, "rect");
    for (const [name, value] of Object.entries({ ...frame, fill: "#ffffff" })) paper.setAttribute(name, value);
    svg.querySelector("desc").after(paper);
    const text = '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg) + "\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = "evenkeel-" + button.dataset.name + ".svg";
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
// Commands can be copied; without this script a click selects them whole.
for (const command of document.querySelectorAll("pre.command")) {
  const frame = document.createElement("div");
  frame.className = "copied";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  command.replaceWith(frame);
  frame.append(command, button);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
// Paper cannot be unfolded: everything is open while the page is printed, for browsers whose style sheet cannot say so.
const unfolded = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    unfolded.push(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of unfolded.splice(0)) details.open = false;
});

// SPDX-License-Identifier: MIT
// Renders templates by the engine that Ollama has, with the values that it gives to them: standard input is a
// list of {"template", "messages"}, standard output a list of prompts. Run by ollama_templates.py.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"text/template"
)

type message struct{ Role, Content string }

type prompt struct {
	Template string
	Messages []*message
}

func main() {
	var prompts []prompt
	if err := json.NewDecoder(os.Stdin).Decode(&prompts); err != nil {
		panic(err)
	}
	texts := []string{}
	for _, p := range prompts {
		system := ""
		if len(p.Messages) > 0 && p.Messages[0].Role == "system" {
			system = p.Messages[0].Content
		}
		var text bytes.Buffer
		parsed := template.Must(template.New("").Option("missingkey=zero").Parse(p.Template))
		values := map[string]any{"System": system, "Messages": p.Messages, "Response": ""}
		if err := parsed.Execute(&text, values); err != nil {
			panic(err)
		}
		texts = append(texts, text.String())
	}
	if err := json.NewEncoder(os.Stdout).Encode(texts); err != nil {
		panic(err)
	}
}

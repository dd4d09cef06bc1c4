// Renders the templates of a Helm chart with the template engine of Go and the functions of Helm that the chart uses. Reads the chart, the
// release and the values as JSON from standard input, and prints the rendered files separated by "---".
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func toYaml(value any) string {
	switch value := value.(type) {
	case map[string]any:
		if len(value) == 0 {
			return "{}"
		}
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		sort.Strings(names)
		lines := make([]string, 0, len(names))
		for _, name := range names {
			lines = append(lines, entry(name+":", value[name]))
		}
		return strings.Join(lines, "\n")
	case []any:
		lines := make([]string, 0, len(value))
		for _, item := range value {
			lines = append(lines, "- "+strings.ReplaceAll(toYaml(item), "\n", "\n  "))
		}
		return strings.Join(lines, "\n")
	default:
		text, err := json.Marshal(value)
		check(err)
		return string(text)
	}
}

func entry(name string, value any) string {
	text := toYaml(value)
	switch value := value.(type) {
	case map[string]any:
		if len(value) > 0 {
			return name + "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
		}
	case []any:
		return name + "\n" + text
	}
	return name + " " + text
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case float64:
		return value == 0
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

func main() {
	var data map[string]any
	check(json.NewDecoder(os.Stdin).Decode(&data))
	set := template.New("").Option("missingkey=error")
	set.Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text strings.Builder
			err := set.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": toYaml,
		"nindent": func(spaces int, text string) string {
			indent := "\n" + strings.Repeat(" ", spaces)
			return indent + strings.ReplaceAll(text, "\n", indent)
		},
		"quote": func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"default": func(fallback, value any) any {
			if isEmpty(value) {
				return fallback
			}
			return value
		},
		"required": func(message string, value any) (any, error) {
			if isEmpty(value) {
				return nil, fmt.Errorf("%s", message)
			}
			return value, nil
		},
		"trunc": func(length int, text string) string {
			if len(text) > length {
				return text[:length]
			}
			return text
		},
		"trimSuffix": func(suffix, text string) string { return strings.TrimSuffix(text, suffix) },
		"sha256sum":  func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
	})
	files, err := filepath.Glob(filepath.Join(os.Args[1], "templates", "*"))
	check(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(err)
		_, err = set.New(filepath.Base(file)).Parse(string(text))
		check(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".txt") {
			fmt.Printf("---\n# Source: %s\n", filepath.Base(file))
			check(set.ExecuteTemplate(os.Stdout, filepath.Base(file), data))
			fmt.Println()
		}
	}
}
